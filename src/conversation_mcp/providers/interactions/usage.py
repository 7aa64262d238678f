"""The usage of an interaction in the words of its wire."""

from conversation_mcp.providers.wire.json_values import JsonObject, count_at, object_at, objects_at
from conversation_mcp.records.usage import Usage


def usage(run: JsonObject) -> Usage | None:
    """Return what was used; the input includes the pages that tools read, the output includes the thoughts."""
    taken = object_at(run, "usage")
    thoughts = count_at(taken, "total_thought_tokens")
    sent = _sum(count_at(taken, "total_input_tokens"), count_at(taken, "total_tool_use_tokens"))
    cached = count_at(taken, "total_cached_tokens") or 0
    return Usage.told(
        input_tokens=sent,
        cached_input_tokens=cached if 0 < cached <= (sent or 0) else None,
        output_tokens=_sum(count_at(taken, "total_output_tokens"), thoughts),
        reasoning_tokens=thoughts,
        searches=_searches(taken),
    )


def _searches(taken: JsonObject) -> int | None:
    counts = objects_at(taken, "grounding_tool_count")
    return _sum(*(count_at(each, "count") for each in counts if each.get("type") == "google_search"))


def _sum(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None and count >= 0]
    return sum(known) if known else None
