"""A question without an answer stands where it was asked, everywhere that shows it."""

import pytest
from tests.fixtures.library import iso_of
from tests.fixtures.stores import UNKNOWN, conversation

from conversation_mcp.conversations.history import history_page
from conversation_mcp.conversations.markdown import markdown
from conversation_mcp.exporting.catalog import FormatName, export_format
from conversation_mcp.records.models import Conversation, Message, PendingTurn
from conversation_mcp.records.transcript import transcript
from conversation_mcp.tooling.rendering.history import render_history
from conversation_mcp.turns.changes import set_aside

SAID = ("one?", "One.", "two?", "Two.", "three?", "Three.")


def turn(question: str, **facts: object) -> PendingTurn:
    return PendingTurn.of(question=question, status="failed", **facts)


def timed(*, answers_only: bool = False) -> Conversation:
    """Return three turns, asked in the seconds 10, 30 and 50 and answered 10 seconds later."""
    messages = tuple(
        Message.of(
            role=message.role, content=message.content, created_at=time if place % 2 or not answers_only else None
        )
        for place, message in enumerate(conversation(UNKNOWN, *SAID).messages)
        for time in (iso_of(10 * (place + 1)),)
    )
    return conversation(UNKNOWN).changed(messages=messages)


def order(shown: str) -> list[str]:
    words = [*SAID, "lost", "first", "last", "now"]
    return sorted((word for word in words if word in shown), key=shown.index)


def placed(stored: Conversation) -> list[str]:
    return [entry.content if isinstance(entry, Message) else entry.question for _, entry in transcript(stored)]


def test_the_number_of_messages_before_it_says_where_it_was_asked() -> None:
    turns = (turn("last", after_message=99), turn("lost", after_message=2), turn("first", after_message=0))
    stored = conversation(UNKNOWN, *SAID).changed(unanswered_turns=turns, pending_turn=turn("now", after_message=1))
    assert placed(stored) == ["first", "one?", "One.", "lost", "two?", "Two.", "three?", "Three.", "last", "now"]


@pytest.mark.parametrize("answers_only", [False, True])
@pytest.mark.parametrize(("second", "place"), [(5, 0), (25, 2), (29, 2), (45, 4), (65, 6), (None, 6)], ids=str)
def test_in_a_file_that_does_not_say_so_the_times_do(second: int | None, place: int, *, answers_only: bool) -> None:
    left = turn("lost", started_at=None if second is None else iso_of(second))
    stored = timed(answers_only=answers_only).changed(unanswered_turns=(left,))
    assert placed(stored).index("lost") == place


def test_times_that_nobody_can_read_put_it_last() -> None:
    stored = timed().changed(unanswered_turns=(turn("lost", started_at="once"),))
    assert placed(stored)[-1] == "lost"


LOST = conversation(UNKNOWN, *SAID).changed(
    unanswered_turns=(turn("lost", after_message=2),), pending_turn=turn("now", after_message=6)
)
IN_PLACE = ["one?", "One.", "lost", "two?", "Two.", "three?", "Three.", "now"]


@pytest.mark.parametrize("name", ["markdown", "html"])
def test_show_and_exports_have_it_there(name: FormatName) -> None:
    def body(shown: str) -> str:
        return shown[shown.rindex("</head>") if "</head>" in shown else shown.index("Question") :]

    assert order(body(export_format(name).render(LOST)).replace("<h1>one?</h1>", "")) == IN_PLACE
    assert order(body(markdown(LOST))) == IN_PLACE


def test_the_history_has_it_on_the_page_of_the_message_before_it() -> None:
    pages = [history_page(LOST, "c.json", limit=2, offset=offset, max_chars=10_000) for offset in (0, 2, 4)]
    assert [len(page.unanswered_turns or ()) for page in pages] == [1, 0, 0]
    assert order(render_history(pages[0])) == ["one?", "One.", "lost", "now"]
    assert order(render_history(history_page(LOST, "c.json", limit=9, max_chars=10_000))) == IN_PLACE


def test_the_history_says_what_it_has_no_room_for() -> None:
    long = LOST.changed(unanswered_turns=(turn("lost " * 100, after_message=2), turn("lost", after_message=4)))
    page = history_page(long, "c.json", limit=9, max_chars=60)
    assert [left.after_message for left in page.unanswered_turns or ()] == [4]
    assert page.notices == ("1 unanswered question is left out here; read c.json",)


def test_a_question_that_is_set_aside_keeps_its_place() -> None:
    stored = set_aside(conversation(UNKNOWN, "one?", "One.").changed(pending_turn=turn("lost")))
    assert [left.after_message for left in stored.unanswered_turns or ()] == [2]
