"""The names of the steps that errors and results advise: commands for people, tools for models."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from conversation_mcp.errors import Step, Steps

if TYPE_CHECKING:
    from conversation_mcp.app import ToolFacts

COMMANDS: Steps = {
    "continue": "`conversation-mcp ask --continue-from {}`",
    "stop": "`conversation-mcp cancel {}`",
    "check": "`conversation-mcp doctor`",
    "migrate": "`conversation-mcp database migrate`",
    "name": "model {0} (--model {0})",
    "chat": "chat (--chat)",
}


def steps_of(tools: "Iterable[ToolFacts]") -> Steps:
    """Return the first tool for each step, and a command for the steps that no tool takes."""
    steps: dict[Step, str] = {}
    for tool in tools:
        for step, words in tool.steps.items():
            steps.setdefault(step, words)
        if tool.opens:
            steps.setdefault("start", tool.name)
            steps.setdefault("continue", f"{tool.name} with continueFrom {{}}")
    return {**COMMANDS, **steps}
