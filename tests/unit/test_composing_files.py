"""How the files of a conversation stand in its requests: each once, in a frame that no text can forge."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.composing import ID, Talk, body, file, text_of

from conversation_mcp.attaching.contents import FileContent, LeftOut
from conversation_mcp.prompting import frames
from conversation_mcp.prompting.diffs import changes_between

A, B = file("/src/a.py", "one\ntwo\n"), file("/src/b.py", "three\n")


def test_a_file_stands_in_the_message_that_names_it_with_its_path_and_line_numbers() -> None:
    made = Talk().composed("What is this?", A)
    question = made.messages[-1].content
    mark = made.messages[-1].content.split("<file ", 1)[1].split(" ", 1)[0]
    assert f'<file {mark} "/src/a.py">\n1\tone\n2\ttwo\n</file {mark}>' in question
    assert question.endswith("\n\nWhat is this?")
    (record,) = made.files
    assert (record.path, record.sent, record.sha256, record.bytes) == ("/src/a.py", "whole", A.sha256, 8)
    assert made.contents == {A.sha256: b"one\ntwo\n"}


def test_named_lines_keep_their_numbers() -> None:
    made = Talk().composed("Why?", file("/src/a.py", "ten\neleven\n", lines="10-11"))
    assert "lines 10-11>\n10\tten\n11\televen\n</file" in made.messages[-1].content
    assert made.files[0].lines == "10-11"


def test_the_history_does_not_grow_by_what_was_sent_before() -> None:  # defect 1
    talk = Talk()
    sizes = [talk.ask("Why?", file("/src/a.py", body("a", 60))).tokens for _ in range(10)]
    growth = {later - former for former, later in pairwise(sizes)}
    assert len(growth) == 1
    assert growth.pop() < 30


def test_an_unchanged_file_is_known_however_it_is_named() -> None:
    talk = Talk()
    talk.ask("Why?", A)
    made = talk.ask("And?", A, file("/other/copy.py", "one\ntwo\n"))
    assert [one.sent for one in made.files] == ["known", "known"]
    assert '[file "/src/a.py": unchanged, as in message 2]' in made.messages[-1].content
    assert '[file "/other/copy.py": the same as "/src/a.py" in message 2]' in made.messages[-1].content
    assert text_of(made.messages).count("1\tone") == 1


def test_lines_that_stand_already_are_told_apart_from_the_whole_file() -> None:
    talk = Talk()
    lines = file("/src/a.py", "two\n", lines="2")
    talk.ask("Why?", lines)
    talk.ask("And all of it?", A)
    made = talk.ask("And?", A, lines)
    assert '[file "/src/a.py": unchanged, as in message 4]' in made.messages[-1].content
    assert '[file "/src/a.py", lines 2: unchanged, as in message 2]' in made.messages[-1].content


def test_two_names_of_one_content_in_one_question_are_sent_once() -> None:
    made = Talk().composed("Why?", A, file("/copy.py", "one\ntwo\n"))
    assert [one.sent for one in made.files] == ["whole", "known"]
    assert '[file "/copy.py": the same as "/src/a.py" above]' in made.messages[-1].content


def test_a_changed_file_is_sent_as_its_changes_when_that_is_shorter() -> None:
    talk = Talk()
    old = body("a")
    talk.ask("Why?", file("/src/a.py", old))
    made = talk.ask("Better?", file("/src/a.py", old.replace("line 9\n", "line nine\n")))
    assert (made.files[0].sent, made.files[0].changed_since) == ("diff", 2)
    question = made.messages[-1].content
    assert "changed since message 2, only the changes>\n@@ -7,7 +7,7 @@" in question
    assert "-a line 9\n+a line nine\n" in question
    again = talk.ask("And?", file("/src/a.py", old.replace("line 9\n", "line nine\n")))
    assert again.files[0].sent == "known"
    back = talk.ask("Undone?", file("/src/a.py", old))
    assert back.files[0].sent == "known"
    assert "unchanged, as in message 2" in back.messages[-1].content


def test_a_rewritten_file_is_sent_whole_and_said_to_be_changed() -> None:
    talk = Talk()
    talk.ask("Why?", file("/src/a.py", body("a")))
    made = talk.ask("Better?", file("/src/a.py", body("z", 5)))
    assert (made.files[0].sent, made.files[0].changed_since) == ("whole", 2)
    assert '"/src/a.py", changed since message 2>\n1\tz line 0' in made.messages[-1].content


def test_changes_are_not_sent_when_what_they_change_is_not_in_the_request() -> None:
    talk = Talk()
    old = body("a", 60)
    talk.ask("Why?", file("/src/a.py", old))
    talk.ask("And this?", file("/src/big.py", body("big", 90)))
    talk.within(520)
    made = talk.composed("Better?", file("/src/a.py", old.replace("line 9\n", "line nine\n")))
    assert "left out here" in made.messages[1].content
    assert (made.files[0].sent, made.files[0].changed_since) == ("whole", None)


def test_a_file_that_is_gone_is_said_to_be_gone_and_stays_in_the_history() -> None:  # defect 21
    talk = Talk()
    talk.ask("Why?", A)
    made = talk.ask("And now?", left_out=[LeftOut("/src/a.py", "it no longer exists")])
    assert "1\tone\n2\ttwo" in made.messages[1].content
    assert made.messages[-1].content.startswith('[file "/src/a.py": not sent: it no longer exists]')
    assert (made.files[0].sent, made.files[0].reason) == ("skipped", "it no longer exists")
    assert made.notices == ('1 of 1 attachment not sent: "/src/a.py" (it no longer exists)',)


def test_a_content_that_is_lost_is_said_to_be_lost() -> None:
    talk = Talk()
    talk.ask("Why?", A)
    talk.kept = type(talk.kept)()
    made = talk.composed("And?")
    assert '[file "/src/a.py": its content is no longer kept]' in made.messages[1].content
    assert made.notices == ("not sent, because their content is no longer kept: 1 file of earlier messages",)


def test_a_text_in_another_encoding_is_kept_with_its_bytes() -> None:
    latin = FileContent("/a.txt", "Grüße\n".encode("latin-1"), "Grüße\n")
    talk = Talk()
    made = talk.ask("Why?", latin)
    assert (made.files[0].sha256, made.files[0].text) == (latin.sha256, latin.text_sha256)
    assert made.contents == {latin.sha256: latin.data, latin.text_sha256: "Grüße\n".encode()}
    assert talk.ask("And?", file("/b.txt", "Grüße\n")).files[0].sent == "known"


def test_what_was_only_sent_on_this_machine_is_withheld_until_it_is_named() -> None:
    talk = Talk()
    talk.ask("Why?", A, B)
    talk.withheld = frozenset({A.text_sha256})
    made = talk.composed("And?")
    assert "1\tone" not in text_of(made.messages)
    assert "1\tthree" in text_of(made.messages)
    assert made.notices == ("not sent, because only this machine had it until now: 1 file; name a file to send it",)


TEXTS = st.text() | st.sampled_from(["</file", "]\n[file", "\n</file 0>\n", "<file ", "\u2028\x1b[2J\r\n"])


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3), TEXTS)
def test_no_text_and_no_path_can_end_a_frame_or_forge_one(
    files: list[tuple[str, str]], question: str
) -> None:  # defect 16
    named = [
        file(f"/{number}{path}", text.encode("utf-8", "replace").decode()) for number, (path, text) in enumerate(files)
    ]
    made = Talk().composed(question.encode("utf-8", "replace").decode(), *named)
    content = made.messages[-1].content
    found = re.match(r"Files, each between two lines with the mark ([0-9a-f]+)\.", content)
    assert found
    mark, whole = found[1], sum(one.sent == "whole" for one in made.files)
    lines = [line for line in content.split("\n") if mark in line]
    assert len(lines) == 1 + 2 * whole
    assert [line.startswith(f"<file {mark} ") for line in lines[1:]] == [True, False] * whole
    assert all(line.isprintable() for line in lines)


def test_a_text_that_contains_the_mark_gets_a_longer_one() -> None:
    mark = frames.mark_for("seed", ())
    longer = frames.mark_for("seed", (f"</file {mark}>",))
    assert longer.startswith(mark)
    assert len(longer) == len(mark) + 1
    assert frames.mark_for("seed", (longer, "")) not in longer


def test_the_mark_is_another_in_another_conversation() -> None:
    one, other = (Talk(conversation_id=name).composed("Why?", A).messages[-1].content for name in (ID, "another"))
    assert one != other


LINES = st.lists(st.sampled_from(["a", "b", "c", "", "@@ -1 +1 @@", "-a", "+b", "é"]), max_size=30)


@given(LINES, LINES, st.booleans(), st.booleans())
def test_changes_lead_from_one_version_to_the_other(one: list[str], other: list[str], end: bool, ends: bool) -> None:
    before, after = "\n".join(one) + "\n" * end, "\n".join(other) + "\n" * ends
    changes = changes_between(before, after)
    assert changes is not None
    assert _applied(before, changes) == after


def _applied(before: str, changes: str) -> str:
    """Apply a unified diff, with the line numbers that it names."""
    old = before.split("\n")
    if old[-1]:
        old[-1] += "\n\\ No newline at end of file"
    else:
        old.pop()
    new: list[str] = []
    place = 0
    for line in changes.replace("\n\\ No", "\0\\ No").split("\n") if changes else []:
        content = line[1:].replace("\0", "\n")
        if found := re.match(r"@@ -(\d+)(?:,(\d+))? \+", line):
            start = int(found[1]) - (found[2] != "0")
            new += old[place:start]
            place = start
        elif line[0] == "+":
            new.append(content)
        else:
            assert old[place] == content
            new += [content] * (line[0] == " ")
            place += 1
    text = "".join(f"{line}\n" for line in [*new, *old[place:]])
    return text.removesuffix("\n\\ No newline at end of file\n")


def test_versions_with_too_much_between_them_are_not_compared() -> None:
    one, other = ("\n".join(f"{name} {number}" for number in range(2_000)) for name in "ab")
    assert changes_between(one, other) is None
    large = [f"line {number}" for number in range(100_000)]
    changes = changes_between("\n".join(large), "\n".join([*large[:70_000], "new", *large[70_000:]]))
    assert (
        changes
        == "@@ -69998,6 +69998,7 @@\n line 69997\n line 69998\n line 69999\n+new\n line 70000\n line 70001\n line 70002"
    )


@pytest.mark.parametrize(("text", "shown"), [("", "1\t"), ("a", "1\ta"), ("a\n", "1\ta"), ("a\n\n", "1\ta\n2\t")])
def test_each_line_has_its_number(text: str, shown: str) -> None:
    assert frames.numbered(text) == shown
