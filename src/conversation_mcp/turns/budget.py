"""The day's cost, counted from the files themselves and those in the trash, against the limit that was set."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial

from conversation_mcp.conversations.costs import cost_since
from conversation_mcp.errors import BudgetReachedError, ConversationMCPError
from conversation_mcp.models import iso
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
        for reading in [
            *(partial(self._store.load, each) for each in await self._store.changed_since(midnight)),
            *(partial(self._store.trash.load, each) for each in await self._store.trash.entries(midnight)),
        ]:
            with suppress(ConversationMCPError):
                spent_usd += cost_since(await reading(), iso(midnight))
        if spent_usd >= self._limit_usd:
            raise BudgetReachedError(spent_usd, self._limit_usd)
