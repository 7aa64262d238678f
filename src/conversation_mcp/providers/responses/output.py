"""Readers for a response object: its text, its reasoning, or the reason why it has none."""

from collections.abc import Iterable

from conversation_mcp.providers.wire.json_values import JsonObject, object_at, objects_at, raw_text_at, text_at
from conversation_mcp.providers.wire.sources import results
from conversation_mcp.text import counted, storable


def answer_text(items: Iterable[JsonObject]) -> str:
    """Return the text of all messages among the output items."""
    return storable("\n\n".join(text for item in items if item.get("type") == "message" and (text := _message(item))))


def _message(item: JsonObject) -> str:
    parts = objects_at(item, "content")
    # Some servers give the text itself in place of a list of parts.
    return raw_text_at(item, "content") or "".join(
        raw_text_at(part, "text") for part in parts if part.get("type") == "output_text"
    )


def reasoning_text(items: Iterable[JsonObject]) -> str:
    """Return the reasoning from its own output items."""
    found = [item for item in items if item.get("type") == "reasoning"]
    parts = [part for item in found for part in objects_at(item, "summary") + objects_at(item, "content")]
    return "\n\n".join(text for part in parts if (text := text_at(part, "text").strip()))


def refusal(items: Iterable[JsonObject]) -> str:
    """Return the reason that the model gave for not answering; empty if it gave none."""
    parts = [part for item in items for part in objects_at(item, "content") if part.get("type") == "refusal"]
    return " ".join(text_at(part, "refusal") for part in parts)


def calls_tools(items: Iterable[JsonObject]) -> bool:
    """Tell whether the model asked for a tool that it was not given."""
    return any(text_at(item, "type") in {"function_call", "custom_tool_call"} for item in items)


def queries(item: JsonObject) -> list[str]:
    """Return the search queries in an output item."""
    query = text_at(object_at(item, "action"), "query")
    return [query] if query else []


def page_count(items: Iterable[JsonObject]) -> int:
    """Return how many pages the items list."""
    return sum(len(results(item)) for item in items)


def reading(pages: int) -> str:
    """Return the phrase for reading this many pages."""
    return "reading pages" if not pages else f"reading {counted(pages, 'page')}"
