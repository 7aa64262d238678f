"""The day's cost, counted from the files themselves, against the limit that was set."""

from collections.abc import Callable, Iterable
from datetime import datetime

from conversation_mcp.errors import BudgetReachedError, ConversationMCPError
from conversation_mcp.models import Conversation, Usage, iso
from conversation_mcp.stores.base import Store


class Budget:
    """Refuses questions when the cost of the current day (UTC) has reached the limit, if one is set."""

    def __init__(self, store: Store, limit_usd: float | None, now: Callable[[], datetime]) -> None:
        self._store = store
        self._limit_usd = limit_usd
        self._now = now

    async def check(self) -> None:
        """Raise BudgetReachedError when nothing more may be spent today."""
        if self._limit_usd is None:
            return
        midnight = self._now().replace(hour=0, minute=0, second=0, microsecond=0)
        spent_usd = 0.0
        for conversation_id in await self._store.changed_since(midnight):
            try:
                conversation = await self._store.load(conversation_id)
            except ConversationMCPError:
                continue
            spent_usd += cost_since(conversation, iso(midnight))
        if spent_usd >= self._limit_usd:
            raise BudgetReachedError(spent_usd, self._limit_usd)


def cost_since(conversation: Conversation, moment: str) -> float:
    """Return what the conversation has cost since the moment (ISO 8601 UTC), answers that never came included."""
    unanswered = (*(conversation.unanswered_turns or ()), *filter(None, (conversation.pending_turn,)))
    costs: Iterable[tuple[str | None, Usage | None]] = (
        *((message.created_at, message.usage) for message in conversation.messages),
        *((turn.started_at, turn.usage) for turn in unanswered),
    )
    return sum(usage.cost_usd or 0 for at, usage in costs if usage is not None and at is not None and at >= moment)
