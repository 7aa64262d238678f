"""What the steps are called that an error or a result advises: commands for people, tools for models."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from conversation_mcp.errors import Step, Steps

if TYPE_CHECKING:
    from conversation_mcp.app import ToolFacts

COMMANDS: Steps = {
    "stop": "`conversation-mcp cancel {}`",
    "check": "`conversation-mcp doctor`",
    "name": "model {0} (--model {0})",
    "chat": "chat (--chat)",
}


def steps_of(tools: "Iterable[ToolFacts]") -> Steps:
    """Return the steps that the tools take, the first one of each, and the commands for what none of them does."""
    steps: dict[Step, str] = {}
    for tool in tools:
        for step, words in tool.steps.items():
            steps.setdefault(step, words)
        if tool.opens:
            steps.setdefault("start", tool.name)
    return {**COMMANDS, **steps}
