"""The cost of a conversation: of its answers, of unanswered questions that were charged, and of summaries."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

Data = Mapping[str, Any]


def chargeable(data: Data) -> Iterator[tuple[str | None, Data]]:
    """Yield what may have been charged, with its time: messages, then, without role, unanswered questions, summaries.

    The messages that a branch has from its parent are left out: they were charged there.
    """
    pending = [data["pendingTurn"]] if data.get("pendingTurn") else []
    own = data["messages"][inherited_count(data) :]
    unanswered = [*pending, *(data.get("unansweredTurns") or ())]
    for at, turns in (("createdAt", own), ("startedAt", unanswered), ("createdAt", data.get("summaries") or ())):
        yield from ((turn.get(at), turn) for turn in turns)


def inherited_count(data: Mapping[str, Any]) -> int:
    """Return how many messages a branch has from its parent; 0 if it is not a branch or `parent` makes no sense."""
    parent: object = data.get("parent")
    count: object = cast("Mapping[str, object]", parent).get("messageCount") if isinstance(parent, dict) else 0
    return count if isinstance(count, int) and count > 0 else 0


def total_tokens(data: Data) -> tuple[int, int]:
    """Return how many tokens were sent and received, as far as providers reported them."""
    used: list[Data] = [turn.get("usage") or {} for _, turn in chargeable(data)]
    sent, came = (sum(usage.get(name) or 0 for usage in used) for name in ("inputTokens", "outputTokens"))
    return sent, came


def total_cost(data: Data) -> float | None:
    """Return the sum of the reported costs in US dollars; None if none was reported."""
    used: list[Data] = [turn.get("usage") or {} for _, turn in chargeable(data)]
    costs: list[float] = [usage["costUsd"] for usage in used if usage.get("costUsd") is not None]
    return sum(costs) if costs else None
