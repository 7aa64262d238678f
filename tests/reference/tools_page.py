"""docs/tools.md: every tool, its arguments, its result record."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast, get_type_hints

from tests.reference.markdown import MADE_BY, code, document, table
from tests.reference.records import Model, fields_of, records_in, sentences_of, summary_of
from tests.reference.types import words_of

from conversation_mcp.tooling.schema import input_schema
from conversation_mcp.tooling.tool import Hints
from conversation_mcp.tools.catalog import TOOL_SETS, AnyTool, tools_of

INTRODUCTION = """\
Each tool with its arguments and its result. Names of arguments are taken in either spelling, `conversationId` or
`conversation_id`; an unknown name is an error. A result comes twice: as text for reading, and in `structuredContent` as
the record that is named here. Fields that are not known are left out. No tool publishes an output schema, because every
client would pay for it in each context.

An error result has `code`, `message`, `retryable` and, where there is one, `conversationId`. The codes are in
[how-it-works.md](how-it-works.md#errors)."""


def tools_page() -> str:
    """Return the page."""
    tools = tools_of(TOOL_SETS)
    records: dict[str, Model] = {}
    for tool in tools:
        records |= records_in(result_of(tool))
    sets = ((code(name), ", ".join(f"[{code(tool)}](#{tool})" for tool in TOOL_SETS[name])) for name in TOOL_SETS)
    return document(
        "# Tools",
        MADE_BY,
        INTRODUCTION,
        "## Sets",
        "`CONVERSATION_MCP_TOOLS` or `--tools` names the sets that are switched on.",
        table(("set", "tools"), sets),
        *(part for tool in tools for part in _tool(tool)),
        "## Records",
        *(part for record in records.values() for part in _record(record)),
    )


def result_of(tool: AnyTool) -> Model:
    """Return the record that the tool gives back."""
    return cast("Model", get_type_hints(tool.run)["return"])


def _tool(tool: AnyTool) -> Iterator[str]:
    result = result_of(tool).__name__
    yield f"## {tool.name}"
    yield f"**{tool.title or tool.name.capitalize()}.** {tool.description}"
    yield _hints(tool.hints)
    yield table(("argument", "type", "default", "meaning"), _arguments(tool))
    yield f"Result: [{result}](#{result.lower()})."


def _arguments(tool: AnyTool) -> Iterator[tuple[str, str, str, str]]:
    """Yield the arguments as clients see them; a sentence in the code speaks where the schema says nothing."""
    schema = input_schema(tool)
    whole = cast("dict[str, dict[str, Any]]", tool.input_model.model_json_schema()["properties"])
    words = sentences_of(tool.input_model)
    fields = {field.alias or name: name for name, field in tool.input_model.model_fields.items()}
    for name, shown in cast("dict[str, dict[str, Any]]", schema["properties"]).items():
        meaning = shown.get("description") or words.get(fields[name], "")
        yield code(name), words_of(whole[name]), _default(name, shown, schema), meaning


def _default(name: str, field: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    if name in schema.get("required", ()):
        return "required"
    return code(json.dumps(field["default"])) if field.get("default") else ""


def _hints(hints: Hints) -> str:
    facts = {
        "read-only": hints.read_only,
        "destructive": hints.destructive,
        "idempotent": hints.idempotent,
        "open world": hints.open_world,
    }
    return "Hints: " + ", ".join(f"{name} {'yes' if holds else 'no'}" for name, holds in facts.items()) + "."


def _record(record: Model) -> Iterator[str]:
    yield f"### {record.__name__}"
    yield summary_of(record)
    rows = (
        (code(field.name), field.type, "always" if field.always else "", field.words) for field in fields_of(record)
    )
    yield table(("field", "type", "there", "meaning"), rows)
