"""What is said of the files and images of a question, in a result and on a terminal."""

import pytest
from inline_snapshot import snapshot
from tests.fixtures.folders import ID

from conversation_mcp.cli.output.answer import put_answer
from conversation_mcp.records.attached import AttachedFile, AttachedImage
from conversation_mcp.tooling.rendering.attachments import render_attachments, sent_summary
from conversation_mcp.tooling.rendering.turns import render_turn
from conversation_mcp.turns.result import TurnResult

FILES = (
    AttachedFile(path="/work/new.py", sent="whole"),
    AttachedFile(path="/work/part.py", lines="10-80", sent="whole"),
    AttachedFile(path="/work/same.py", sent="known"),
    AttachedFile(path="/work/small.py", sent="diff", changed_since=4),
    AttachedFile(path="/work/large.py", sent="whole", changed_since=4),
    AttachedFile(path="/work/build/a.js", sent="skipped", reason="ignored by git"),
    AttachedFile(path="/work/build/b.js", sent="skipped", reason="ignored by git"),
    AttachedFile(path="/work/a\n\x1b[2J.bin", sent="skipped", reason="binary"),
)
IMAGES = (AttachedImage(path="/work/a.png", sent="whole"), AttachedImage(path="/work/b.png", sent="known"))


def result(**facts: object) -> TurnResult:
    usual = {"conversation_id": ID, "status": "completed", "raw_result_text": "So.", "message_count": 5, "turn": 2}
    return TurnResult.model_validate({**usual, **facts})


def test_a_result_says_what_became_of_each_file() -> None:
    assert render_attachments(FILES, IMAGES) == snapshot("""\
Files
- /work/new.py: sent
- /work/part.py:10-80: sent
- /work/same.py: unchanged
- /work/small.py: changed since message 4, sent as a diff
- /work/large.py: changed since message 4
- /work/build/a.js: skipped: ignored by git
- /work/build/b.js: skipped: ignored by git
- /work/a \x1b[2J.bin: skipped: binary
- /work/a.png: sent
- /work/b.png: unchanged\
""")


def test_files_beyond_a_dozen_are_counted() -> None:
    many = [*FILES, *(AttachedFile(path=f"/work/{number}.py", sent="whole") for number in range(2_000))]
    assert render_attachments(many, IMAGES).splitlines()[12:] == snapshot(
        ["- /work/3.py: sent", "- 1,998 more: 1,997 sent, 1 unchanged"]
    )


def test_a_question_without_files_says_nothing_of_files() -> None:
    assert render_attachments((), ()) == sent_summary((), ()) == ""
    assert "Files" not in render_turn(result())


def test_the_answer_comes_before_what_was_sent_for_it() -> None:
    shown = render_turn(result(files=FILES[:1], images=IMAGES[:1], next_step="Go on."))
    assert shown == snapshot("""\
Conversation 20260131-1769817600000 · turn 2

So.

Files
- /work/new.py: sent
- /work/a.png: sent

Go on.\
""")


@pytest.mark.parametrize(
    ("files", "images", "line"),
    [
        (FILES[:1], (), "1 file sent"),
        (FILES[:2], IMAGES, "2 files sent; 1 image sent, 1 unchanged"),
        (FILES, (), "2 files sent, 2 changed, 1 unchanged, 3 skipped (2 ignored by git, 1 binary)"),
        (FILES[5:7], (), "2 files skipped (ignored by git)"),
        ((), IMAGES[1:], "1 image unchanged"),
    ],
)
def test_the_summary_counts_by_what_became_of_them(
    files: tuple[AttachedFile, ...], images: tuple[AttachedImage, ...], line: str
) -> None:
    assert sent_summary(files, images) == line


def test_many_reasons_are_cut_to_the_most_frequent() -> None:
    reasons = [f"reason {number}" for number in range(9)]
    skipped = [AttachedFile(path="/a", sent="skipped", reason=reason) for reason in (*reasons, reasons[3])]
    assert sent_summary(skipped, ()) == ("10 files skipped (2 reason 3, 1 reason 0, 1 reason 1, 1 reason 2, …)")


def test_the_command_line_says_on_stderr_what_was_sent(capsys: pytest.CaptureFixture[str]) -> None:
    put_answer(result(files=FILES[:3], images=IMAGES), "So.")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == snapshot("""\
2 files sent, 1 unchanged; 1 image sent, 1 unchanged.
20260131-1769817600000 · follow up with:  conversation-mcp ask -c last "…"
""")
