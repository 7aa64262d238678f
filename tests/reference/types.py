"""What a JSON schema says of one value, in words."""

from collections.abc import Mapping
from typing import Any

from tests.reference.markdown import code

NAMES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
}
LIMITS = {"minimum": "from", "maximum": "to", "exclusiveMinimum": "above", "exclusiveMaximum": "below"}

Schema = Mapping[str, Any]


def words_of(schema: Schema) -> str:
    """Return the type of the value, with its choices and limits; null stands for a value that is left out."""
    alternatives = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    if alternatives:
        return " or ".join(words_of(option) for option in alternatives)
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return "any JSON" if name == "JsonValue" else f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return ", ".join(code(value) for value in schema["enum"])
    if "const" in schema:
        return code(schema["const"])
    if schema.get("type") == "array":
        return f"list of {words_of(schema.get('items', {}))}"
    kind = schema.get("format") or NAMES.get(schema.get("type", ""), "any JSON")
    return " ".join((str(kind), *_limits(schema)))


def _limits(schema: Schema) -> list[str]:
    return [f"{word} {schema[limit]:,g}" for limit, word in LIMITS.items() if limit in schema]
