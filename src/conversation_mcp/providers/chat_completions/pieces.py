"""Readers for the content of a message or a delta; every server puts text, reasoning and refusals elsewhere."""

from collections.abc import Iterator, Mapping

from conversation_mcp.providers.wire.json_values import JsonObject, items_at, objects_at, raw_text_at

REASONING_FIELDS = ("reasoning", "reasoning_content")
# A part without a type is a text, too.
VISIBLE_PARTS = frozenset({"", "text", "output_text"})
HIDDEN_PARTS = frozenset({"thinking", "reasoning"})


def text_in(message: JsonObject) -> str:
    """Return the visible text, whether it is a string, a list of parts or null."""
    return raw_text_at(message, "content") or "".join(
        raw_text_at(part, "text")
        for part in objects_at(message, "content")
        if raw_text_at(part, "type") in VISIBLE_PARTS
    )


def reasoning_in(message: JsonObject) -> str:
    """Return the separate reasoning; some servers send it in several fields, so the first one counts."""
    for name in REASONING_FIELDS:
        if text := raw_text_at(message, name):
            return text
    details = "".join(
        raw_text_at(detail, "text") or raw_text_at(detail, "summary")
        for detail in objects_at(message, "reasoning_details")
    )
    return details or "".join(_thoughts(message))


def refusal_in(message: JsonObject) -> str:
    """Return the reason for not answering, if one was given."""
    return raw_text_at(message, "refusal") or "".join(
        raw_text_at(part, "refusal") for part in objects_at(message, "content")
    )


def calls_tools(message: JsonObject) -> bool:
    """Tell whether the model wants a tool to be called, which is not done here."""
    return bool(items_at(message, "tool_calls")) or isinstance(message.get("function_call"), Mapping)


def _thoughts(message: JsonObject) -> Iterator[str]:
    for part in objects_at(message, "content"):
        if raw_text_at(part, "type") in HIDDEN_PARTS:
            yield raw_text_at(part, "thinking") or raw_text_at(part, "text")
            yield from (raw_text_at(thought, "text") for thought in objects_at(part, "thinking"))
