"""The usage of a question, added up over the calls that its answer took."""

from collections.abc import Iterator

from conversation_mcp.providers.wire.json_values import JsonObject, count_at, object_at
from conversation_mcp.records.usage import Usage

# The wire's `input_tokens` leave out what went through the cache.
CACHE = ("cache_creation_input_tokens", "cache_read_input_tokens")


class Spending:
    """What each call of a question took. Counts of a stream are cumulative: the last value of a field counts."""

    def __init__(self) -> None:
        self._calls: list[dict[str, object]] = []

    def begin(self) -> None:
        """Begin the next call."""
        self._calls.append({})

    def take(self, frame: JsonObject) -> None:
        """Read the usage in a frame or message."""
        self._calls[-1].update({name: value for name, value in object_at(frame, "usage").items() if value is not None})

    @property
    def usage(self) -> Usage | None:
        """The tokens of all calls; those sent include what was written to the cache or read from it."""
        if not any(self._calls):
            return None
        read = self._sum("cache_read_input_tokens")
        thoughts = sum(_count(object_at(call, "output_tokens_details"), "thinking_tokens") for call in self._calls)
        return Usage.told(
            input_tokens=self._sum("input_tokens", *CACHE),
            cached_input_tokens=read or None,
            written_input_tokens=self._sum("cache_creation_input_tokens") or None,
            output_tokens=self._sum("output_tokens"),
            reasoning_tokens=thoughts or None,
            searches=sum(self._searches()) or None,
        )

    def _searches(self) -> Iterator[int]:
        return (_count(object_at(call, "server_tool_use"), "web_search_requests") for call in self._calls)

    def _sum(self, *names: str) -> int:
        return sum(_count(call, name) for call in self._calls for name in names)


def _count(taken: JsonObject, name: str) -> int:
    return max(0, count_at(taken, name) or 0)
