"""docs/conversation.schema.json: the form of the file that a conversation is kept in."""

import json
from typing import Any, cast

from tests.reference.records import Model, json_names, records_in, sentences_of

from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.models import Conversation

ABOUT = (
    "A conversation as conversation-mcp writes it. The five required fields are the contract. What is not known is "
    "left out, and fields that are not named here are kept."
)

Schema = dict[str, Any]


def file_schema_page() -> str:
    """Return the file."""
    return json.dumps(file_schema(), indent=2, ensure_ascii=False) + "\n"


def file_schema() -> Schema:
    """Return the schema of conversation.json as it is written: absent facts are left out, not null."""
    schema = Conversation.model_json_schema()
    definitions = cast("dict[str, Schema]", schema["$defs"])
    top = _record(schema, Conversation)
    top["properties"]["conversationId"]["pattern"] = f"^{SHAPE.pattern}$"
    top["properties"]["messageCount"]["minimum"] = 0
    inner = {name: model for name, model in records_in(Conversation).items() if model is not Conversation}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "conversation.json",
        **top,
        "description": ABOUT,
        "$defs": {name: _record(definitions[name], model) for name, model in inner.items()},
    }


def _record(schema: Schema, model: Model) -> Schema:
    words = sentences_of(model)
    properties: Schema = {}
    for field, name in json_names(model).items():
        about = {"description": words[field]} if field in words else {}
        moment = {"format": "date-time"} if name.endswith("At") else {}
        properties[name] = {**about, **_value(schema["properties"][name]), **moment}
    return {
        "description": str(schema["description"]),
        "type": "object",
        "required": list(schema.get("required", ())),
        "properties": properties,
        "additionalProperties": True,
    }


def _value(schema: Schema) -> Schema:
    """Return the schema of a value that is there."""
    alternatives = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    whole: Schema = {**schema, **(alternatives[0] if len(alternatives) == 1 else {})}
    if whole.get("type") == "object":
        return {"type": "object"}
    if "items" in whole:
        whole["items"] = _value(whole["items"])
    return {name: value for name, value in whole.items() if name not in {"title", "default", "anyOf"}}
