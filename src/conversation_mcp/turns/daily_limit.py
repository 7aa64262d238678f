"""The limit on a day's cost. The cost is added up as statistics add it up."""

from collections.abc import Callable
from datetime import datetime

from anyio import to_thread

from conversation_mcp.conversations.prices import Prices
from conversation_mcp.conversations.statistics import Sums, turns_since
from conversation_mcp.errors import BudgetReachedError
from conversation_mcp.providers.model_facts import Catalogue
from conversation_mcp.records.facts import milliseconds_of
from conversation_mcp.records.models import iso
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.headway import Headway
from conversation_mcp.text import dollars
from conversation_mcp.turns.result import TurnResult


class DailyLimit:
    """Refuses questions once the cost of the current day (UTC) has reached the limit, if one is set.

    Conversations in the trash count. Where a provider reports no cost, an estimate counts.
    """

    def __init__(
        self, store: Store, limit_usd: float | None, catalogue: Catalogue, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._limit_usd = limit_usd
        self._catalogue = catalogue
        self._now = now

    @property
    def is_set(self) -> bool:
        """Whether there is a limit."""
        return self._limit_usd is not None

    async def check(self, planned_usd: float = 0.0) -> None:
        """Raise BudgetReachedError if nothing more may be spent today, or not as much as is planned."""
        if self._limit_usd is None:
            return
        midnight = self._now().replace(hour=0, minute=0, second=0, microsecond=0)
        since, prices, spent = milliseconds_of(iso(midnight)), Prices(await self._catalogue.ready()), Sums()

        def add_up() -> None:
            for _, data in self._store.finder.contents(Headway(), [], midnight):
                for turn in turns_since(data, since, prices):
                    spent.add(turn)

        # A finder blocks, and a busy day means many files.
        await to_thread.run_sync(add_up)
        if spent.cost_usd >= self._limit_usd or spent.cost_usd + planned_usd > self._limit_usd:
            raise BudgetReachedError(spent.cost_usd, self._limit_usd, spent.estimated_usd, planned_usd)

    async def with_notice(self, result: TurnResult) -> TurnResult:
        """Return the result, with a notice if a limit is set and counts this answer by an estimate."""
        if self._limit_usd is None or result.usage is None or result.usage.cost_usd is not None:
            return result
        estimate_usd = Prices(await self._catalogue.ready()).estimate(
            {
                "provider": result.provider,
                "model": result.model_used,
                "requestedModel": result.requested_model,
                "usage": result.usage.data(),
            }
        )
        if not estimate_usd:
            return result
        notice = f"the provider reported no cost; the daily limit counts an estimate of {dollars(estimate_usd)}"
        return result.model_copy(update={"notices": (*(result.notices or ()), notice)})
