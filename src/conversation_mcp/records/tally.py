"""What lists show of messages, added up, so that an answer is counted without those before it."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from conversation_mcp.records.titles import line_of

FACETS = ("tool", "provider", "model")

Data = Mapping[str, Any]
Given = tuple[str, str]
"""A kind of facet, and a value as a message gives it."""


class Spent(NamedTuple):
    """Tokens that were sent and received, and their cost in US dollars, as far as providers reported them."""

    sent: int = 0
    received: int = 0
    cost_usd: float | None = None
    """None if none was reported."""

    def and_of(self, turn: Data) -> "Spent":
        """Return the sum with what a message, an unanswered question or a summary used."""
        usage: Data | None = turn.get("usage")
        if not usage:
            return self
        cost = usage.get("costUsd")
        return Spent(
            self.sent + (usage.get("inputTokens") or 0),
            self.received + (usage.get("outputTokens") or 0),
            self.cost_usd if cost is None else (self.cost_usd or 0) + cost,
        )


class Tally(NamedTuple):
    """The sums over the first messages of a conversation."""

    message_count: int = 0
    turn_count: int = 0
    """All verdicts of a consensus answer one question."""
    spent: Spent = Spent()
    title: str = ""
    """The first question that is not blank, cut to a line."""
    last_question: Data | None = None
    given: frozenset[Given] = frozenset()
    ends_in_verdict: bool = False

    def and_of(self, messages: Iterable[Data], inherited_count: int) -> "Tally":
        """Return the sums with messages that follow; the first `inherited_count` of all were charged to the parent."""
        count, turns, spent, title, last, _, was_verdict = self
        given = set(self.given)
        for message in messages:
            count += 1
            role = message["role"]
            if role == "user":
                title = title or line_of(message["content"])
                last = message
            is_verdict = bool(message.get("stance"))
            turns += (role == "assistant") - (is_verdict and was_verdict)
            was_verdict = is_verdict
            if "usage" in message and count > inherited_count:
                spent = spent.and_of(message)
            for kind in FACETS:  # not by given_by: a list reads thousands of messages
                if kind in message and (value := message[kind]):
                    given.add((kind, value))
            if "preset" in message and (preset := message["preset"]):
                given.add(("model", preset))
        return Tally(count, turns, spent, title, last, frozenset(given), was_verdict)


def given_by(turn: Data) -> Iterable[Given]:
    """Return the tool, the provider and the model of a message or an unanswered question."""
    return [(kind, value) for kind in FACETS if (value := turn.get(kind))]
