"""Estimates of costs that providers did not report: tokens times the prices of the catalogue."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from conversation_mcp.providers.model_facts import Catalogue, ModelFacts

TOKENS_PER_PRICE = 10**6


class Price(NamedTuple):
    """The prices of a model in US dollars per million tokens, and for a search."""

    sent: float
    cached: float
    written: float
    came: float
    search: float


class Prices:
    """The prices of models, from a catalogue that was loaded."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._known: dict[tuple[str, str], ModelFacts | None] = {}

    @property
    def date(self) -> str:
        """The date of the prices."""
        return self._catalogue.date

    def estimate(self, turn: Mapping[str, Any]) -> float | None:
        """Return the cost of a message or question in US dollars; None if its tokens or their price are unknown."""
        usage: Mapping[str, Any] = turn.get("usage") or {}
        provider, sent, came = turn.get("provider"), usage.get("inputTokens") or 0, usage.get("outputTokens") or 0
        cached = min(sent, usage.get("cachedInputTokens") or 0)
        written = min(sent - cached, usage.get("writtenInputTokens") or 0)
        if provider is None or not (sent or came):
            return None
        for field in ("model", "requestedModel"):
            name = (turn.get(field) or "").removeprefix(f"{provider}:")
            if name and (price := self._price(provider, name, sent)):
                plain = sent - cached - written
                tokens = plain * price.sent + cached * price.cached + written * price.written + came * price.came
                return tokens / TOKENS_PER_PRICE + (usage.get("searches") or 0) * price.search
        return None

    def _price(self, provider: str, model: str, sent_tokens: int) -> Price | None:
        if (provider, model) not in self._known:
            found = self._catalogue.find(provider, model) or self._catalogue.find_by_last_part(provider, model)
            self._known[provider, model] = found
        facts = self._known[provider, model]
        return _price_of(facts.for_prompt(sent_tokens)) if facts else None


def _price_of(facts: ModelFacts) -> Price | None:
    """Return the prices if they are known; other kinds of input cost what input costs, if nothing else is known."""
    if facts.price_in is None or facts.price_out is None:
        return None
    cached = facts.price_in if facts.price_cached is None else facts.price_cached
    written = facts.price_in if facts.price_written is None else facts.price_written
    return Price(facts.price_in, cached, written, facts.price_out, facts.price_search or 0)
