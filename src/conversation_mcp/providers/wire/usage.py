"""The usage of an answer, in the words of either family, and its wording in errors and notices."""

from conversation_mcp.errors import ProviderError
from conversation_mcp.providers.wire.json_values import JsonObject, count_at, number_at, object_at
from conversation_mcp.records.usage import Usage
from conversation_mcp.text import dollars

# xAI tells a cost in these.
TICKS_PER_USD = 10**10
CACHED = ("cached_tokens", "cache_read_input_tokens", "prompt_cache_hit_tokens")
"""The names of the count of tokens that were read from a cache: the usual one, Anthropic's, and DeepSeek's."""


def usage(response: JsonObject) -> Usage | None:
    """Return the usage of the response, as the provider counted it."""
    taken = object_at(response, "usage")
    details = object_at(taken, "output_tokens_details") or object_at(taken, "completion_tokens_details")
    input_tokens = _either(taken, "input_tokens", "prompt_tokens")
    return Usage.told(
        input_tokens=input_tokens,
        cached_input_tokens=_cached(taken, input_tokens),
        output_tokens=_either(taken, "output_tokens", "completion_tokens"),
        reasoning_tokens=count_at(details, "reasoning_tokens"),
        cost_usd=_cost_usd(taken),
    )


def _either(taken: JsonObject, name: str, other: str) -> int | None:
    found = count_at(taken, name)
    return count_at(taken, other) if found is None or found < 0 else found


def _cached(taken: JsonObject, input_tokens: int | None) -> int | None:
    """Return how many of the tokens sent were read from a cache; None for nothing, or for more than were sent."""
    details = object_at(taken, "input_tokens_details") or object_at(taken, "prompt_tokens_details")
    told = [count_at(place, name) for place in (details, taken) for name in CACHED]
    cached = next((count for count in told if count is not None and count > 0), None)
    # More than was sent is a count that cannot be true, and would make the cost negative.
    return None if cached is None or cached > (input_tokens or 0) else cached


def _cost_usd(taken: JsonObject) -> float | None:
    ticks = number_at(taken, "cost_in_usd_ticks")
    told = (
        number_at(object_at(taken, "cost"), "total_cost"),
        number_at(taken, "cost"),
        None if ticks is None else ticks / TICKS_PER_USD,
    )
    return next((cost for cost in told if cost is not None and cost >= 0), None)


def with_usage(error: ProviderError, used: Usage | None) -> ProviderError:
    """Return the error with the usage that was charged all the same."""
    if used:
        error.usage = used.data()
    return error


def billed(used: Usage | None) -> str:
    """Return the charge in brackets, to follow a sentence; empty if it is unknown."""
    if used is None or used.cost_usd is None:
        return ""
    return f" (billed {dollars(used.cost_usd)})"


def cut_notice(reason: str, used: Usage | None) -> str:
    """Return the notice for an answer that was cut; `reason` is the provider's word."""
    at_limit = reason in {"", "length", "max_output_tokens"}
    where = "at the provider's token limit" if at_limit else f"by the provider ({reason})"
    return f"the answer was cut {where}{billed(used)}. Ask it to continue."
