"""The tools, in the order clients see them. Adding one is a module and a line here."""

from collections.abc import Iterable, Mapping
from typing import Any

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.tools.branch_conversation import BRANCH_CONVERSATION
from conversation_mcp.tools.cancel_turn import CANCEL_TURN
from conversation_mcp.tools.chat import CHAT
from conversation_mcp.tools.deep_research import DEEP_RESEARCH
from conversation_mcp.tools.deep_research_followup import DEEP_RESEARCH_FOLLOWUP
from conversation_mcp.tools.delete_conversation import DELETE_CONVERSATION
from conversation_mcp.tools.export_conversation import EXPORT_CONVERSATION
from conversation_mcp.tools.get_conversation_history import GET_CONVERSATION_HISTORY
from conversation_mcp.tools.list_conversations import LIST_CONVERSATIONS
from conversation_mcp.tools.list_models import LIST_MODELS
from conversation_mcp.tools.search import SEARCH
from conversation_mcp.tools.search_followup import SEARCH_FOLLOWUP
from conversation_mcp.tools.tool import Tool
from conversation_mcp.tools.update_conversation import UPDATE_CONVERSATION

AnyTool = Tool[Any, Any]

TOOL_SETS: Mapping[str, tuple[AnyTool, ...]] = {
    "research": (
        SEARCH,
        SEARCH_FOLLOWUP,
        DEEP_RESEARCH,
        DEEP_RESEARCH_FOLLOWUP,
        GET_CONVERSATION_HISTORY,
        LIST_CONVERSATIONS,
    ),
    "manage": (
        BRANCH_CONVERSATION,
        UPDATE_CONVERSATION,
        CANCEL_TURN,
        DELETE_CONVERSATION,
        EXPORT_CONVERSATION,
    ),
    "models": (CHAT, LIST_MODELS),
}


def tools_of(names: Iterable[str]) -> tuple[AnyTool, ...]:
    """Return the tools of the named sets, each once.

    Raises:
        InvalidInputError: a set has no such name; the message lists those there are.
    """
    chosen: dict[str, AnyTool] = {}
    for name in names:
        if name not in TOOL_SETS:
            raise InvalidInputError(f"there is no tool set {name!r}; the sets are {', '.join(TOOL_SETS)}.")
        chosen.update((tool.name, tool) for tool in TOOL_SETS[name])
    return tuple(chosen.values())
