"""The tools by set, in the order that clients see. To add one, add a module and a line here."""

import tomllib
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.modes import Mode
from conversation_mcp.sources import variable_of
from conversation_mcp.text import nearest
from conversation_mcp.tooling.tool import Tool
from conversation_mcp.workflows.names import SHIPPED

AnyTool = Tool[Any, Any]
WORKFLOWS = "workflows"
LOG = "log"

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
        "merge_conversations",
        "update_conversation",
        "cancel_turn",
        "delete_conversation",
        "export_conversation",
    ),
    "models": ("chat", "list_models", "show_context"),
    "consult": ("consult", "consensus"),
    "memories": (
        "store_memory",
        "search_memories",
        "list_memories",
        "update_memory",
        "delete_memory",
        "get_context",
        "init_conversation",
        "end_conversation",
    ),
    LOG: (
        "create_conversation",
        "store_message",
        "store_messages",
        "fetch_conversation_history",
        "recent",
        "summarize_conversation",
        "update_conversation",
        "end_conversation",
    ),
    WORKFLOWS: SHIPPED,
}
"""Each tool is `NAME` in the module `name`. The modules of a set that is off are not imported at start-up.

The tools of workflows are made from their definitions, and the user's own come after those that are named here. Where
the log is on, its tools take the user whose conversation it is; one that is in another set, too, is listed once.
"""


def meant_by(name: str, tools: Collection[str]) -> str:
    """Return a sentence with the tool that does here what this one does in other servers, or has a similar name."""
    elsewhere: dict[str, str] = tomllib.loads(
        files("conversation_mcp.tools").joinpath("known_elsewhere.toml").read_text("utf-8")
    )
    wanted = elsewhere.get(name.casefold(), name if any(name in names for names in TOOL_SETS.values()) else "")
    if not wanted:
        near = nearest(name, tools)
        return f" Did you mean {near!r}?" if near else ""
    if wanted in tools:
        return f" Did you mean {wanted!r}? It does that here."
    # Some tools of the log are in another set, too; that one comes first, and needs no users.
    tool_set = next(each for each, names in TOOL_SETS.items() if wanted in names)
    return f" {wanted!r} does that here; it is in the tool set {tool_set!r}, which is off ({variable_of('tools')})."


def check_set(name: str) -> None:
    """Raise InvalidInputError if no set has this name; the message lists the sets."""
    if name not in TOOL_SETS:
        raise InvalidInputError(f"there is no tool set {name!r}; the sets are {', '.join(TOOL_SETS)}.")


@cache
def tool_of(name: str) -> AnyTool:
    """Return the tool; its module is imported on the first call."""
    if name in SHIPPED:
        return resolve_name("conversation_mcp.tooling.workflow_tools:shipped_tool")(name)
    return resolve_name(f"conversation_mcp.tools.{name}:{name.upper()}")


def mode_of(name: str | None) -> Mode | None:
    """Return the mode in which a stored question's tool asks; None for an unknown tool, or one that asks nothing."""
    # Checked before it is imported, because the name comes from a stored file.
    return tool_of(name).mode if name and any(name in names for names in TOOL_SETS.values()) else None


def asking_tool(mode: Mode, *, follows: bool) -> AnyTool:
    """Return the first tool that asks in this mode and follows up in conversations, or opens them."""
    tools = (tool_of(name) for names in TOOL_SETS.values() for name in names)
    return next(tool for tool in tools if tool.mode == mode and (tool.follows if follows else tool.opens))


def tools_of(names: Iterable[str], workflows_folder: Path | None = None) -> tuple[AnyTool, ...]:
    """Return the tools of the named sets, each once; their modules are imported now.

    The tools of workflows are those of the package and of the user's folder.

    Raises:
        InvalidInputError: no set has this name.
    """
    chosen: dict[str, AnyTool] = {}
    for name in (names := tuple(names)):
        check_set(name)
        if name == WORKFLOWS and workflows_folder is not None:
            chosen |= _workflow_tools(workflows_folder)
            continue
        for tool in TOOL_SETS[name]:
            chosen[tool] = tool_of(tool)
    if LOG in names:
        for_users = resolve_name("conversation_mcp.tooling.users:for_users")
        chosen |= {tool: for_users(chosen[tool]) for tool in TOOL_SETS[LOG]}
    return tuple(chosen.values())


def _workflow_tools(folder: Path) -> dict[str, AnyTool]:
    make = resolve_name("conversation_mcp.tooling.workflow_tools:workflow_tools")
    taken = {tool for name, tools in TOOL_SETS.items() if name != WORKFLOWS for tool in tools}
    return {tool.name: tool for tool in make(folder, taken)}
