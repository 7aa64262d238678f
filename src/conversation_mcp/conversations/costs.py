"""What a conversation has cost: its answers, and the questions that never got one but were charged all the same."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conversation_mcp.models import Conversation


def charges(data: Mapping[str, Any]) -> Iterator[tuple[str | None, float]]:
    """Yield when and how much was charged, in US dollars, from the data of a file."""
    pending = [data["pendingTurn"]] if data.get("pendingTurn") else []
    for at, turns in (("createdAt", data["messages"]), ("startedAt", [*pending, *(data.get("unansweredTurns") or ())])):
        for turn in turns:
            cost_usd = turn["usage"].get("costUsd") if turn.get("usage") else None
            if cost_usd is not None:
                yield turn.get(at), cost_usd


def total_cost(data: Mapping[str, Any]) -> float | None:
    """Return the sum of what is known, None if nothing is."""
    costs = [cost_usd for _, cost_usd in charges(data)]
    return sum(costs) if costs else None


def cost_since(conversation: "Conversation", moment: str) -> float:
    """Return what the conversation has cost since the moment (ISO 8601 UTC)."""
    return sum(cost_usd for at, cost_usd in charges(conversation.data()) if at is not None and at >= moment)
