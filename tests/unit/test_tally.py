"""Sums over messages are the same whether they are made at once or as answers come."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conversation_mcp.records.facts import described, facets_of, listed
from conversation_mcp.records.tally import Spent, Tally

USAGE = st.fixed_dictionaries(
    {},
    optional={
        "inputTokens": st.integers(0, 99),
        "outputTokens": st.none() | st.integers(0, 99),
        "costUsd": st.none() | st.floats(0, 9),
    },
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant"]), "content": st.sampled_from(["", " \n", "One?", "Two?"])},
    optional={
        "usage": st.none() | USAGE,
        "stance": st.sampled_from(["for", "against"]),
        "tool": st.sampled_from(["search", "chat"]),
        "model": st.sampled_from(["lab/Sonar", "x"]),
        "preset": st.just("fast"),
    },
)
FACTS: dict[str, Any] = {"createdAt": "2026-01-31T00:00:00.000Z", "updatedAt": "2026-01-31T00:00:00.000Z"}


@given(st.lists(MESSAGE, max_size=8), st.integers(0, 8), st.integers(0, 3), st.booleans())
def test_sums_over_messages_do_not_depend_on_when_these_came(
    messages: list[dict[str, Any]], place: int, inherited: int, has_pending: bool
) -> None:
    head = {**FACTS, "parent": {"conversationId": "20260131-1769817600000", "messageCount": inherited}}
    if has_pending:
        head["pendingTurn"] = {"question": "And now?", "tool": "search", "usage": {"costUsd": 0.1}}
    parts = Tally().and_of(messages[:place], inherited).and_of(messages[place:], inherited)
    whole = described({**head, "messages": messages}, "id", 1)
    assert listed(head, parts, "id", 1) == whole.facts
    assert facets_of(head, parts) == whole.facets


def test_what_no_provider_reported_is_unknown_rather_than_nothing() -> None:
    assert Spent().and_of({"usage": {"inputTokens": 3}}) == Spent(3, 0, None)
    assert Spent().and_of({"usage": {"costUsd": 0}}).cost_usd == 0


def test_two_verdicts_in_a_row_answer_one_question() -> None:
    verdict = {"role": "assistant", "content": "Yes.", "stance": "for"}
    parts = Tally().and_of([verdict], 0).and_of([verdict], 0).and_of([{"role": "assistant", "content": "So."}], 0)
    assert parts.turn_count == 2
