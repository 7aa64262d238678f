"""The ranking of models: by ability, then by window, then by price."""

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple, cast, get_args

from conversation_mcp.providers.model_facts import ModelFacts
from conversation_mcp.records.modes import Mode

Category = Literal["fast", "balanced", "deep"]

AUTO = "auto"
BANDS: dict[Category, int] = {"fast": 0, "balanced": 1, "deep": 2}
POINTS_PER_BAND = 10
USUAL: dict[Mode, Category] = {"search": "fast", "chat": "balanced", "deep_research": "deep"}
UNKNOWN_DISTANCE = 9
"""The distance of a model without a rating, so that it comes after all others."""


class Candidate(NamedTuple):
    """A model that could be asked."""

    provider: str
    facts: ModelFacts

    @property
    def name(self) -> str:
        """The name of the model among those of all providers."""
        return f"{self.provider}:{self.facts.id}"


def category_of(model: str, mode: Mode) -> Category | None:
    """Return the category of `auto` or `auto:deep`; None for any other name."""
    head, _, category = model.casefold().partition(":")
    if head != AUTO:
        return None
    if not category:
        return USUAL[mode]
    return cast("Category", category) if category in get_args(Category) else None


def best(candidates: Iterable[Candidate], category: Category) -> Candidate | None:
    """Return the best candidate; among equal ones the first, whose provider comes first in the user's order."""
    return min(candidates, key=lambda candidate: _rank(candidate.facts, category), default=None)


def may_be_chosen(facts: ModelFacts, today: str, needed_tokens: int) -> bool:
    """Tell whether auto may choose the model: it is current, of general purpose, and large enough."""
    is_current = facts.status == "active" and (facts.ends is None or facts.ends > today)
    limit = facts.input_limit
    return is_current and not facts.named_only and (limit is None or limit >= needed_tokens)


def reason(candidate: Candidate, category: Category) -> str:
    """Return the notice that says what auto chose and why."""
    facts = candidate.facts
    parts = [f"ability {facts.ability} of 29" if facts.ability is not None else "no rating is known"]
    if facts.context:
        parts.append(f"a window of {facts.context:,} tokens")
    if facts.price_in is not None and facts.price_out is not None:
        parts.append(f"${facts.price_in:g} in and ${facts.price_out:g} out for a million tokens")
    source = f" ({facts.source})" if facts.source else ""
    return f"auto chose {candidate.name} for {category}: {', '.join(parts)}{source}"


def _rank(facts: ModelFacts, category: Category) -> tuple[int, int, int, float]:
    ability = -1 if facts.ability is None else facts.ability
    price = (facts.price_in or 0) + (facts.price_out or 0) if facts.price_out is not None else math.inf
    return (_distance(facts.ability, category), -ability, -(facts.context or 0), price)


def _distance(ability: int | None, category: Category) -> int:
    """Return the distance of the model from the category; one band above is nearer than one below."""
    if ability is None:
        return UNKNOWN_DISTANCE
    steps = min(ability // POINTS_PER_BAND, BANDS["deep"]) - BANDS[category]
    return 2 * steps - 1 if steps > 0 else -2 * steps
