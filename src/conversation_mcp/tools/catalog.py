"""The tools, by set, in the order clients see them. Adding one is a module and a line here."""

from collections.abc import Iterable, Mapping
from pkgutil import resolve_name
from typing import Any

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.tools.tool import Tool

AnyTool = Tool[Any, Any]

TOOL_SETS: Mapping[str, tuple[str, ...]] = {
    "research": (
        "search",
        "search_followup",
        "deep_research",
        "deep_research_followup",
        "get_conversation_history",
        "list_conversations",
    ),
    "manage": (
        "branch_conversation",
        "update_conversation",
        "cancel_turn",
        "delete_conversation",
        "export_conversation",
    ),
    "models": ("chat", "list_models"),
}
"""Each tool is `NAME` in the module `name`. A set that is off costs the start nothing."""


def check_set(name: str) -> None:
    """Raise InvalidInputError when there is no such set; the message lists those there are."""
    if name not in TOOL_SETS:
        raise InvalidInputError(f"there is no tool set {name!r}; the sets are {', '.join(TOOL_SETS)}.")


def tools_of(names: Iterable[str]) -> tuple[AnyTool, ...]:
    """Return the tools of the named sets, each once; their modules are imported now.

    Raises:
        InvalidInputError: a set has no such name.
    """
    chosen: dict[str, AnyTool] = {}
    for name in names:
        check_set(name)
        for tool in TOOL_SETS[name]:
            chosen[tool] = resolve_name(f"conversation_mcp.tools.{tool}:{tool.upper()}")
    return tuple(chosen.values())
