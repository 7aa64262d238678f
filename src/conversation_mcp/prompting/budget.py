"""How much may be sent to a model: the answer's share, the reserve, and the shares of history and files."""

import math
from dataclasses import dataclass, replace

from conversation_mcp.providers.estimate import usable
from conversation_mcp.providers.model_facts import ModelFacts

LARGE_WINDOW_TOKENS = 300_000
"""From here on, less of the window is held for the answer and more of the rest goes to files."""


@dataclass(frozen=True)
class Shares:
    """The user's shares; None leaves one to the size of the window."""

    answer: float | None = None
    """The part of the window that is held for the answer."""
    files: float | None = None
    """The part of what is left that files have for certain."""
    history: float | None = None
    """The part of what is left that the history has for certain."""


SMALL, LARGE = Shares(0.4, 0.3, 0.5), Shares(0.2, 0.4, 0.4)


@dataclass(frozen=True)
class Budget:
    """What a request may hold, in tokens as they are estimated."""

    input_tokens: int | None
    """The largest request; None if no window is known, so that everything is sent."""
    files: float = 0.3
    """The part of it that files have for certain."""
    history: float = 0.5
    """The part of it that the history has for certain."""
    answer_tokens: int | None = None
    """What is held for the answer."""
    correction: float = 1.0
    """How many tokens the model counts for one that is estimated."""
    model: str = ""
    """The name of the model, for messages."""
    source: str = ""
    """Where its window is known from, for messages."""

    def shown(self, tokens: int) -> int:
        """Return estimated tokens as the model probably counts them."""
        return round(tokens * self.correction)

    def corrected(self, correction: float) -> "Budget":
        """Return the budget for a model that counts so many tokens for one that is estimated."""
        tokens = None if self.input_tokens is None else math.floor(self.input_tokens * self.correction / correction)
        return replace(self, input_tokens=tokens, correction=correction)


OWN = Shares()


def budget_of(facts: ModelFacts, shares: Shares = OWN, name: str = "") -> Budget:
    """Return the budget for a model; it is called by the name in messages."""
    window = facts.context or facts.input or 0
    by_size = SMALL if window < LARGE_WINDOW_TOKENS else LARGE
    answer, files, history = (
        size if own is None else own
        for own, size in (
            (shares.answer, by_size.answer),
            (shares.files, by_size.files),
            (shares.history, by_size.history),
        )
    )
    held = _held(facts, answer or 0)
    limit = _limit(facts, held)
    return Budget(
        input_tokens=None if limit is None else usable(limit),
        files=files or 0,
        history=history or 0,
        answer_tokens=held,
        model=name or facts.id,
        source=facts.source,
    )


def _held(facts: ModelFacts, share: float) -> int | None:
    """Return what is held for the answer: a share of the window, but no more than the model can write."""
    if facts.context is None:
        return None
    part = math.floor(facts.context * share)
    return part if facts.output is None else min(part, facts.output)


def _limit(facts: ModelFacts, held: int | None) -> int | None:
    if facts.context is None:
        return facts.input
    left = facts.context - (held or 0)
    return left if facts.input is None else min(facts.input, left)
