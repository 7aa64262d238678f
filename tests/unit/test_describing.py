"""What lists show of a file."""

import json

import pytest
from tests.fixtures.library import data_of_conversation, id_of

from conversation_mcp.conversations.prices import Prices
from conversation_mcp.conversations.statistics import turns_since
from conversation_mcp.errors import ConversationCorruptedError
from conversation_mcp.providers.model_facts import Catalogue
from conversation_mcp.records.codec import decode
from conversation_mcp.records.facts import describe, milliseconds_of
from conversation_mcp.records.found import Indexed, Listed
from conversation_mcp.records.models import ConversationId

ID = ConversationId(id_of(1))


def described(*texts: str, **fields: object) -> Indexed:
    return describe(json.dumps(data_of_conversation(1, *texts, **fields)).encode(), "c.json", ID)


def facts(*texts: str, **fields: object) -> Listed:
    return described(*texts, **fields).facts


def test_the_title_is_the_first_question_cut_at_a_word_unless_one_was_set() -> None:
    assert facts("What is\na B-tree?", "Sorted.", "And then?").title == "What is a B-tree?"
    long = facts("word " * 50).title
    assert (len(long) <= 80, long[-5:]) == (True, "word…")
    assert facts("one?", title="By hand").title == "By hand"
    assert facts("one?", title="  ").title == "one?"
    assert facts(pendingTurn={"question": "Only asked?"}).title == "Only asked?"
    assert facts("\ud83d\ude80 one \ud800?").title == "🚀 one \ufffd?"


def test_the_last_question_is_shown_with_or_without_its_answer() -> None:
    assert facts("one?", "One.", "two?", "Two.").last_question == "two?"
    assert facts("one?", "One.", pendingTurn={"question": "three?", "tool": "search"}).last_question == "three?"
    assert facts(messages=[]).last_question is None
    assert len(facts("word " * 500).last_question or "") <= 120


def test_the_cost_is_that_of_answers_and_of_questions_without_one() -> None:
    paid = {"usage": {"costUsd": 0.25}}
    messages = [{"role": "user", "content": "one?"}, {"role": "assistant", "content": "One.", **paid}]
    assert facts("one?", "One.").cost_usd is None
    assert facts(messages=messages).cost_usd == 0.25
    turns = {
        "pendingTurn": {"question": "q", **paid},
        "unansweredTurns": [{"question": "q", **paid}, {"question": "q"}],
    }
    assert facts(messages=messages, **turns).cost_usd == 0.75


def test_the_cost_of_a_day_counts_what_was_charged_on_it() -> None:
    charged = {"usage": {"costUsd": 0.25}}
    data = data_of_conversation(
        1,
        messages=[
            {"role": "assistant", "content": "One.", "createdAt": "2026-01-30T23:59:59.999Z", **charged},
            {"role": "assistant", "content": "Two.", "createdAt": "2026-01-31T00:00:00.000Z", **charged},
            {"role": "assistant", "content": "Elsewhere.", "createdAt": "2026-01-31T00:30:00.000+02:00", **charged},
        ],
        pendingTurn={"question": "q", "startedAt": "2026-01-31T10:00:00.000Z", **charged},
    )
    since = milliseconds_of("2026-01-31T00:00:00.000Z")
    assert sum(turn.cost_usd for turn in turns_since(data, since, Prices(Catalogue({}).load()))) == 0.5


@pytest.mark.parametrize(
    "odd",
    [
        {"tags": "one"},
        {"tags": [1]},
        {"title": 7},
        {"createdAt": None},
        {"createdAt": "once"},
        {"updatedAt": "yesterday"},
        {"messageCount": "many"},
        {"messages": [{"role": "user"}]},
        {"messages": "none"},
        {"messages": [{"role": "user", "content": "q", "usage": "free"}]},
        {"messages": [{"role": "user", "content": "q", "model": ["a"]}]},
        {"pendingTurn": {"status": "failed"}},
        {"pendingTurn": "soon"},
        {"unansweredTurns": [{"question": 1}]},
    ],
    ids=str,
)
def test_what_is_no_conversation_is_refused_as_everywhere(odd: dict[str, object]) -> None:
    data = json.dumps(data_of_conversation(1, "one?") | odd).encode()
    with pytest.raises(ConversationCorruptedError):
        decode(data, "c.json", ID)
    with pytest.raises(ConversationCorruptedError):
        describe(data, "c.json", ID)


@pytest.mark.parametrize("data", [b"", b"{", b"[" * 100_000, b"\xff", b"null", b'"text"', b"NaN"])
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(ConversationCorruptedError):
        describe(data, "c.json", ID)


def test_a_file_that_only_the_codec_can_read_is_described_as_it_reads_it() -> None:
    data = data_of_conversation(1, "one?", messageCount="1", pendingTurn={"question": "q", "usage": {"costUsd": "0.5"}})
    body = b"\xef\xbb\xbf" + json.dumps(data).encode()
    assert describe(body, "c.json", ID).facts.cost_usd == 0.5
