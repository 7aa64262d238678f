"""Statistics of all conversations: questions, tokens and costs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from conversation_mcp.conversations.prices import Prices
from conversation_mcp.records.costs import Data, chargeable
from conversation_mcp.records.facts import facts_of, milliseconds_of, moment_of
from conversation_mcp.stores.finder import Finder
from conversation_mcp.stores.headway import Headway

COST_DIGITS = 9
"""Sums of floats are rounded to this; no price has more digits."""

By = Literal["day", "tool", "provider", "model", "conversation"]


class Turn(NamedTuple):
    """A question, with its answer if it has one."""

    milliseconds: int
    tool: str | None
    provider: str | None
    model: str | None
    input_tokens: int
    cached_tokens: int
    """Those of them that the provider read from its cache."""
    output_tokens: int
    cost_usd: float
    """The cost that the provider reported, else an estimate."""
    is_estimate: bool
    is_answered: bool | None
    """None for a summary, and for a message that is not an answer but was charged."""

    def key(self, by: By, conversation_id: str) -> str | None:
        """Return the key under which the turn is counted, None if it is unknown."""
        if by == "day":
            return moment_of(self.milliseconds).date().isoformat()
        named = {"tool": self.tool, "provider": self.provider, "model": self.model, "conversation": conversation_id}
        return named[by]


@dataclass
class Sums:
    """The known totals of several turns."""

    answered: int = 0
    unanswered: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    estimated_usd: float = 0.0
    """The part of the cost that no provider reported."""

    def add(self, turn: Turn) -> None:
        """Add the turn to the totals."""
        self.answered += turn.is_answered is True
        self.unanswered += turn.is_answered is False
        self.input_tokens += turn.input_tokens
        self.cached_tokens += turn.cached_tokens
        self.output_tokens += turn.output_tokens
        self.cost_usd += turn.cost_usd
        self.estimated_usd += turn.cost_usd if turn.is_estimate else 0.0

    def data(self) -> dict[str, float]:
        """Return the totals as JSON data."""
        return {
            "turns": self.answered,
            "unanswered": self.unanswered,
            "inputTokens": self.input_tokens,
            **({"cachedInputTokens": self.cached_tokens} if self.cached_tokens else {}),
            "outputTokens": self.output_tokens,
            "costUsd": round(self.cost_usd, COST_DIGITS),
            **({"estimatedCostUsd": round(self.estimated_usd, COST_DIGITS)} if self.estimated_usd else {}),
        }


class Statistics(NamedTuple):
    """The sums by key: days in order, other keys by cost, highest first. The key None is for unknown ones."""

    sums: Mapping[str | None, Sums]
    total: Sums
    conversation_count: int
    """All conversations, the trash included."""
    problems: tuple[str, ...]
    titles: Mapping[str | None, str]
    """Titles by id, if the sums are by conversation."""


def statistics(finder: Finder, by: By, since_milliseconds: int | None, prices: Prices, headway: Headway) -> Statistics:
    """Read every conversation, including archived ones and the trash, keeping only the sums in memory.

    Raises:
        FilesystemError: the place cannot be read.
    """
    sums: dict[str | None, Sums] = {}
    total, count, problems = Sums(), 0, list[str]()
    titles: dict[str | None, str] = {}
    for conversation_id, data in finder.contents(headway, problems):
        count += 1
        if by == "conversation":
            titles[conversation_id] = facts_of(data, conversation_id, 0).title
        for turn in turns_since(data, since_milliseconds, prices):
            sums.setdefault(turn.key(by, conversation_id), Sums()).add(turn)
            total.add(turn)
    order = sorted(sums, key=str) if by == "day" else sorted(sums, key=lambda key: _weight(sums[key]), reverse=True)
    return Statistics({key: sums[key] for key in order}, total, count, tuple(problems), titles)


def turns_since(data: Data, since_milliseconds: int | None, prices: Prices) -> Iterator[Turn]:
    """Yield the turns in the data of a file that were asked or answered since then."""
    for turn in turns_of(data, prices):
        if since_milliseconds is None or turn.milliseconds >= since_milliseconds:
            yield turn


def turns_of(data: Data, prices: Prices) -> Iterator[Turn]:
    """Yield the turns in the data of a file; one without a time counts at the start of the conversation."""
    asked_with: str | None = None
    for at, turn in chargeable(data):
        role = turn.get("role")
        if role == "user":
            asked_with = turn.get("tool")
        usage: Mapping[str, Any] = turn.get("usage") or {}
        is_question = role == "assistant" or (role is None and "question" in turn)
        is_answered = role == "assistant" if is_question else None
        if is_answered is None and not usage:
            continue
        told = usage.get("costUsd")
        estimate = prices.estimate(turn) if told is None else None
        yield Turn(
            milliseconds=_milliseconds(at, data["createdAt"]),
            tool=asked_with if role else turn.get("tool"),
            provider=turn.get("provider"),
            model=turn.get("model"),
            input_tokens=usage.get("inputTokens") or 0,
            cached_tokens=usage.get("cachedInputTokens") or 0,
            output_tokens=usage.get("outputTokens") or 0,
            cost_usd=(told or 0.0) if estimate is None else estimate,
            is_estimate=estimate is not None,
            is_answered=is_answered,
        )


def _milliseconds(at: str | None, otherwise: str) -> int:
    try:
        return milliseconds_of(at or otherwise)
    except ValueError:
        return milliseconds_of(otherwise)


def _weight(sums: Sums) -> tuple[float, int, int]:
    return sums.cost_usd, sums.answered, sums.unanswered
