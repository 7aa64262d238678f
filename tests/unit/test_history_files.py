"""Files and images in the history: all facts in the record, a line each in the text, within the limit."""

from tests.fixtures.attached import NEW, OLD, PATH, named, question, with_files
from tests.fixtures.pages import conversation_of

from conversation_mcp.conversations.attached import SHOWN_FILES
from conversation_mcp.conversations.history import HistoryPage, history_page
from conversation_mcp.records.models import Conversation
from conversation_mcp.tooling.rendering.history import render_history


def page_of(conversation: Conversation, max_chars: int = 100_000) -> HistoryPage:
    return history_page(conversation, "/file", limit=100, offset=0, max_chars=max_chars)


def lines_of(page: HistoryPage) -> list[str]:
    return [line for line in render_history(page).splitlines() if line.startswith("File: /home")]


def test_the_history_has_the_facts_of_files_and_images() -> None:
    conversation = with_files()
    data = page_of(conversation).data()
    stored = conversation.data()["messages"]
    assert [data["messages"][place]["files"] for place in (0, 2)] == [stored[place]["files"] for place in (0, 2)]
    assert data["messages"][2]["images"] == stored[2]["images"]


def test_the_text_has_a_line_for_each() -> None:
    assert lines_of(page_of(with_files()))[2:] == [
        "File: /home/me/src/add.py · 44 bytes · changes sent · changed since message 1",
        "File: /home/me/.env · not sent · may hold secrets",
        "File: /home/me/shot.png · 4 by 3 · 12 bytes · sent whole",
    ]


def test_a_question_without_an_answer_has_them_too() -> None:
    turn = {"question": "Q", "status": "failed", "files": [named(PATH, NEW)], "afterMessage": 0}
    pending = page_of(conversation_of([], pendingTurn=turn))
    unanswered = page_of(
        conversation_of([question("R"), {"role": "assistant", "content": "A"}], unansweredTurns=[turn])
    )
    for page in (pending, unanswered):
        assert lines_of(page) == ["File: /home/me/src/add.py · 44 bytes · sent whole"]


def test_the_text_names_a_dozen_and_counts_the_rest() -> None:
    files = [named(f"/home/{number}", OLD) for number in range(SHOWN_FILES + 2)]
    text = render_history(page_of(conversation_of([question("All?", *files)])))
    assert text.count("File: /home/") == SHOWN_FILES
    assert "File: and 2 more\n" in text


def test_many_files_leave_room_for_fewer_messages_and_that_is_said() -> None:
    files = [named(f"/home/{number}", OLD) for number in range(40)]
    asked = [
        each for number in range(9) for each in (question(f"{number}?", *files), {"role": "assistant", "content": "A"})
    ]
    page = page_of(conversation_of(asked), 20_000)
    assert len(page.messages) == 4
    assert page.has_more
    assert page.notices is not None
    assert page.notices[0].startswith("4 of 18 messages are shown")
