"""The schema of a tool's arguments, as short as possible, because it takes room in every context of every client."""

from collections.abc import Iterable
from typing import Any, cast

from pydantic import BaseModel

from conversation_mcp.records.options import SearchFilters
from conversation_mcp.tooling.sent_along import AttachedArguments, Continuing
from conversation_mcp.tooling.tool import Tool

SHARED: tuple[type[BaseModel], ...] = (SearchFilters, AttachedArguments, Continuing)
"""The groups of arguments that several tools have; only a tool that `describes` a group says what they mean."""


def input_schema(tool: Tool[Any, Any]) -> dict[str, Any]:
    """Return the JSON schema of the arguments: required ones first, no titles, no null alternatives, nothing empty.

    Arguments that several tools share are described by one of them, so that each is described once in the list.
    """
    schema = tool.input_model.model_json_schema()
    required = set(cast("list[str]", schema.get("required", [])))
    properties = cast("dict[str, dict[str, Any]]", schema["properties"])
    ordered = sorted(properties, key=lambda name: (name not in required, name == "model", name == "showThinking"))
    elsewhere = set(_described_elsewhere(tool))
    return {
        "type": "object",
        "properties": {name: _short(properties[name], is_known=name in elsewhere) for name in ordered},
        **({"required": [name for name in ordered if name in required]} if required else {}),
        "additionalProperties": False,
    }


def _described_elsewhere(tool: Tool[Any, Any]) -> Iterable[str]:
    for group in SHARED:
        if group not in tool.describes:
            yield from (field.alias or name for name, field in group.model_fields.items())


def _short(field: dict[str, Any], *, is_known: bool) -> dict[str, Any]:
    alternatives = [option for option in field.get("anyOf", ()) if option.get("type") != "null"]
    whole: dict[str, Any] = {**(alternatives[0] if len(alternatives) == 1 else {}), **field}
    # A default of false, 0 or "" says nothing that its absence does not.
    silent = {"title", "format", "anyOf", *(() if whole.get("default") else ("default",))}
    silent |= {"description"} if is_known else set()
    return {name: value for name, value in whole.items() if name not in silent}
