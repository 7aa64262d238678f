"""Estimates of costs that providers did not report: tokens times the prices of the catalogue."""

from collections.abc import Mapping
from typing import Any

from conversation_mcp.providers.model_facts import Catalogue

TOKENS_PER_PRICE = 10**6


class Prices:
    """The prices of models, from a catalogue that was loaded."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._known: dict[tuple[str, str], tuple[float, float] | None] = {}

    @property
    def date(self) -> str:
        """The date of the prices."""
        return self._catalogue.date

    def estimate(self, turn: Mapping[str, Any]) -> float | None:
        """Return the cost of a message or question in US dollars; None if its tokens or their price are unknown."""
        usage: Mapping[str, Any] = turn.get("usage") or {}
        provider, sent, came = turn.get("provider"), usage.get("inputTokens") or 0, usage.get("outputTokens") or 0
        if provider is None or not (sent or came):
            return None
        for field in ("model", "requestedModel"):
            name = (turn.get(field) or "").removeprefix(f"{provider}:")
            if name and (price := self._price(provider, name)):
                return (sent * price[0] + came * price[1]) / TOKENS_PER_PRICE
        return None

    def _price(self, provider: str, model: str) -> tuple[float, float] | None:
        if (provider, model) not in self._known:
            facts = self._catalogue.find(provider, model) or self._catalogue.find_by_last_part(provider, model)
            is_known = facts is not None and facts.price_in is not None and facts.price_out is not None
            self._known[provider, model] = (facts.price_in or 0, facts.price_out or 0) if facts and is_known else None
        return self._known[provider, model]
