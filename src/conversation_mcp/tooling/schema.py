"""The schema of a tool's arguments, as short as possible, because it takes room in every context of every client."""

from collections.abc import Collection
from typing import Any, cast

from conversation_mcp.records.options import SearchFilters
from conversation_mcp.tooling.tool import Tool


def input_schema(tool: Tool[Any, Any]) -> dict[str, Any]:
    """Return the JSON schema of the arguments: required ones first, no titles, no null alternatives.

    Only the tool with `describes_filters` describes the filters of a search; the others refer to it.
    """
    schema = tool.input_model.model_json_schema()
    required = set(cast("list[str]", schema.get("required", [])))
    properties = cast("dict[str, dict[str, Any]]", schema["properties"])
    ordered = sorted(properties, key=lambda name: (name not in required, name == "model", name == "showThinking"))
    return {
        "type": "object",
        "properties": {name: _short(properties[name], is_known=name in _described_elsewhere(tool)) for name in ordered},
        "required": [name for name in ordered if name in required],
        "additionalProperties": False,
    }


def _described_elsewhere(tool: Tool[Any, Any]) -> Collection[str]:
    return () if tool.describes_filters else SearchFilters.model_fields


def _short(field: dict[str, Any], *, is_known: bool) -> dict[str, Any]:
    alternatives = [option for option in field.get("anyOf", ()) if option.get("type") != "null"]
    whole: dict[str, Any] = {**(alternatives[0] if len(alternatives) == 1 else {}), **field}
    # A default of false, 0 or "" says nothing that its absence does not.
    silent = {"title", "format", "anyOf", *(() if whole.get("default") else ("default",))}
    silent |= {"description"} if is_known else set()
    return {name: value for name, value in whole.items() if name not in silent}
