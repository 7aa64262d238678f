"""Exports of Gemini: records and turns in JSON, and pages of Google's activity."""

import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from anyio import to_thread
from hypothesis import example, given
from hypothesis import strategies as st
from tests.fixtures.chat_exports import counted, imported, said
from tests.fixtures.exports.files import put_json
from tests.fixtures.exports.imported import bring_in, stored_in
from tests.fixtures.exports.sites import gemini_page, gemini_record

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.importing.base import ImportProblem, SourceFile
from conversation_mcp.importing.formats import gemini_pages
from conversation_mcp.importing.formats.gemini_pages import records_of
from conversation_mcp.importing.html_markdown import markdown_of
from conversation_mcp.records.models import Conversation


async def imported_page(tmp_path: Path, *bodies: str) -> list[Conversation]:
    page = tmp_path / "MyActivity.html"
    text = gemini_page(*(("Gemini Apps", body) for body in bodies))
    await to_thread.run_sync(page.write_text, text, "utf-8")
    await bring_in(page, tmp_path)
    return await stored_in(tmp_path)


async def test_questions_of_gemini_that_lead_to_one_chat_are_one_conversation(tmp_path: Path) -> None:
    link = {"titleUrl": "https://gemini.google.com/app/c0ffee"}
    records = [
        gemini_record("Prompted And then?", "<p>Two.</p>", time="2026-02-02T08:00:00Z", **link),
        gemini_record("Prompted Alone?", "<p>Yes.</p>", time="2026-02-02T07:30:00Z"),
        gemini_record("Prompted First?", "<p>One.</p>", time="2026-02-02T07:00:00Z", **link),
    ]
    stored, _ = await imported(tmp_path, records)
    assert [said(each) for each in stored] == [["First?", "One.", "And then?", "Two."], ["Alone?", "Yes."]]
    more = gemini_record("Prompted Last?", "<p>Three.</p>", time="2026-02-03T07:00:00Z", **link)
    _, report = await imported(tmp_path, [more, *records])
    assert {name: count for name, count in report.counts.items() if count} == {"extended": 1, "unchanged": 1}


async def test_records_of_gemini_that_are_no_questions_are_counted_by_their_words(tmp_path: Path) -> None:
    records: list[Any] = [
        gemini_record("Used an Assistant feature"),
        gemini_record("Gave feedback: Good response"),
        gemini_record("Searched for kettles") | {"header": "Search", "products": ["Search"]},
        gemini_record("Prompted Not answered?", feedback="It was quite good"),
        gemini_record("Stelle dir vor", "<p>Ja.</p>"),
        None,
        {"header": "Gemini Apps", "title": 5},
    ]
    stored, report = await imported(tmp_path, records)
    assert sorted(said(each) for each in stored) == [[], ["Stelle dir vor", "Ja."]]
    assert [each.pending_turn.question for each in stored if each.pending_turn] == ["Not answered?"]
    assert counted(report) == {"Used an": 1, "Gave feedback:": 1, "Search": 1, "feedback": 1}
    assert report.counts["problem"] == 1


@pytest.mark.parametrize(
    ("line", "moment"),
    [
        ("Feb 2, 2026, 7:24:02\u202fPM GMT+01:00", "2026-02-02T18:24:02.000Z"),
        ("Feb 2, 2026, 12:24:02 AM PST", "2026-02-02T08:24:02.000Z"),
        ("2 Feb 2026, 07:24:02 GMT-3", "2026-02-02T10:24:02.000Z"),
        ("2 de fev. de 2026, 07:24:02 BRT", "2026-02-02T10:24:02.000Z"),
        ("22 juil. 2026, 05:17:27 CEST", "2026-07-22T03:17:27.000Z"),
        ("02.03.2026, 07:24:02 MEZ", "2026-03-02T06:24:02.000Z"),
        ("2026/03/02 7:24:02 JST", "2026-03-01T22:24:02.000Z"),
        ("2026-03-02 07:24:02 UTC", "2026-03-02T07:24:02.000Z"),
    ],
)
async def test_the_times_of_a_page_are_read_as_each_language_writes_them(
    tmp_path: Path, line: str, moment: str
) -> None:
    (conversation,) = await imported_page(tmp_path, f"Prompted&nbsp;When?<br>{line}<br><p>Now.</p>")
    assert said(conversation) == ["When?", "Now."]
    assert conversation.created_at == moment


async def test_a_record_of_a_page_with_lines_attachments_and_blocks(tmp_path: Path) -> None:
    body = (
        "Prompted&nbsp;What is &lt;b&gt;?<br>At 2026-01-01 10:00:00 it broke, said somebody<br>Attached 1 file.<br>"
        '-&nbsp;<a href="shot-1e98.png">shot.png</a><br>Feb 2, 2026, 7:24:02 AM UTC<br>'
        "<div><p>A tag.</p></div><p>At Feb 2, 2026, 7:24:03 AM UTC<br>too</p>"
    )
    unanswered = "Prompted&nbsp;Nothing?<br>Feb 3, 2026, 7:24:02 AM UTC<br>"
    undated = "Prompted&nbsp;No time?<p>None.</p>"
    third, first, second = await imported_page(tmp_path, body, unanswered, undated)
    assert said(first) == [
        "What is <b>?\nAt 2026-01-01 10:00:00 it broke, said somebody",
        "A tag.\n\nAt Feb 2, 2026, 7:24:03 AM UTC\ntoo",
    ]
    assert first.messages[0].notices == ("attachment not imported: shot.png",)
    assert second.pending_turn is not None
    assert second.pending_turn.question == "Nothing?"
    assert said(third) == ["No time?", "None."]


async def test_the_same_record_in_json_and_on_a_page_is_one(tmp_path: Path) -> None:
    takeout = tmp_path / "takeout"
    takeout.mkdir()
    put_json(takeout / "MyActivity.json", [gemini_record("Prompted Boil?", "<p>Yes.</p>")])
    page = gemini_page(("Gemini Apps", "Prompted&nbsp;Boil?<br>Feb 2, 2026, 8:24:02 AM GMT+01:00<br><p>Yes.</p>"))
    await to_thread.run_sync((takeout / "MyActivity.html").write_text, page, "utf-8")
    report = await bring_in(takeout, tmp_path)
    assert (report.counts["imported"], report.counts["unchanged"]) == (1, 1)


async def test_pages_that_are_no_activity_of_gemini_are_other_files(tmp_path: Path) -> None:
    page = tmp_path / "chat.html"
    for text in ("<html>Gemini</html>", gemini_page(("Search", "Searched for&nbsp;x<br>"))):
        await to_thread.run_sync(page.write_text, text, "utf-8")
        with pytest.raises(InvalidInputError, match="1 file holds something else"):
            await bring_in(page, tmp_path, wanted="chatgpt")


class Slow(io.BytesIO):
    """Gives a few bytes at a time."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(7, size or 7))


def test_records_are_found_wherever_the_pieces_of_a_page_end() -> None:
    page = gemini_page(*(("Gemini Apps", f"Prompted&nbsp;Question {number}<br>") for number in range(5))).encode()
    read = 0

    def on_read(count: int) -> None:
        nonlocal read
        read += count

    file = SourceFile("page.html", len(page), lambda: Slow(page))
    titles = [found[1]["title"] for found in records_of(file, on_read) if not isinstance(found, ImportProblem)]
    assert titles == [f"Prompted Question {number}" for number in range(5)]
    assert read == len(page)


def test_an_answer_in_html_becomes_markdown() -> None:
    page = (
        "<h2>Plan</h2><p>First <strong>bold</strong>,<br>next <a href='https://a.example'>link</a>"
        "<a href='javascript:x'>.</a></p><ul><li>One</li><li>Two<ul><li>deep</li></ul></li></ul>"
        "<ol start='3'><li>x</li></ol><pre><code class='language-python'>a = '```'\n  b &lt; 1</code></pre>"
        "<table><tr><th>A</th><th>B|</th></tr><tr><td>1</td><td><p>2</p></td></tr></table>"
        "<blockquote><p>q1</p>q2</blockquote><script>bad()</script><p>x &amp; <code>c</code></p>"
    )
    assert markdown_of(page) == (
        "## Plan\n\nFirst **bold**,\nnext [link](https://a.example).\n\n- One\n- Two\n  - deep\n\n3. x\n\n"
        "````python\na = '```'\n  b < 1\n````\n\n| A | B\\| |\n| --- | --- |\n| 1 | 2 |\n\n> q1\n\n> q2\n\nx & `c`"
    )


TAGS = st.sampled_from(
    ["p", "li", "ul", "ol", "pre", "code", "td", "tr", "table", "a", "blockquote", "b", "script", "br"]
)


@given(
    pieces=st.lists(
        st.one_of(TAGS.map("<{}>".format), TAGS.map("</{}>".format), st.just(" word "), st.text(max_size=5))
    )
)
@example(pieces=["<tr>", "<td>", " word ", "</td>", "<tr>", " word "])
def test_no_word_of_an_answer_is_lost_however_its_tags_stand(pieces: list[str]) -> None:
    page = "".join(
        piece for piece in pieces if "script" not in piece and (piece.strip("</>").isalpha() or piece == " word ")
    )
    assert markdown_of(page).count("word") == page.count("word")
    markdown_of("".join(pieces))


async def test_a_json_export_of_turns_that_is_cut_is_told(tmp_path: Path) -> None:
    text = json.dumps({"conversation_turns": [{"user_turn": {"prompt": "Hi"}}]})
    path = tmp_path / "conversation_1.txt"
    await to_thread.run_sync(path.write_text, text[:-4])
    with pytest.raises(InvalidInputError, match="is not valid JSON"):
        await bring_in(path, tmp_path)
    await to_thread.run_sync(path.write_text, json.dumps({"conversation_turns": "none"}))
    report = await bring_in(path, tmp_path)
    assert [problem.reason for problem in report.problems] == ["has no list of turns"]
    assert await stored_in(tmp_path) == []


async def test_turns_of_gemini_keep_pictures_deleted_turns_and_times(tmp_path: Path) -> None:
    turns: list[Any] = [
        {"user_turn": {"prompt": "Draw.", "turn_last_modified": "2026-03-01T08:00:01Z"}},
        {"system_turn": {"text": ["Here", {"cards": [{"content": "A card."}]}], "images": ["conversation_1_turn_1_images_0"]}},
        {"system_turn": {"text": [], "canvas": "A whole page of words"}},
        {"odd_turn": {}},
        None,
    ]  # fmt: skip
    data: dict[str, Any] = {"creation_time": "2026-03-01T08:00:00Z", "conversation_turns": turns}
    (conversation,), report = await imported(tmp_path, data)
    assert said(conversation) == ["Draw.", "Here\n\nA card."]
    assert conversation.messages[0].created_at == "2026-03-01T08:00:01.000Z"
    assert counted(report) == {"attachments": 1, "canvas": 1}
    assert datetime.fromisoformat(conversation.created_at) == datetime(2026, 3, 1, 8, tzinfo=UTC)


def test_no_pattern_for_pages_can_pass_over_its_own_beginning_without_a_bound() -> None:
    patterns = cast(
        "list[re.Pattern[str]]", [each for each in vars(gemini_pages).values() if isinstance(each, re.Pattern)]
    )
    searched = [each.pattern for each in patterns if each.pattern.startswith("<")]
    repeated = {each for pattern in searched for each in re.findall(r"(\[[^\]]*\]|\\\w|\)|.)[*+]", pattern)}
    assert len(searched) >= 5
    assert repeated <= {"[^<>]", r"\s"}  # neither takes the `<` with which each of them begins


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("a < b &lt; c <3", "a < b < c <3"),
        ("<!-- not shown --><p>x</p>", "x"),
        ("<p>x <!-- cut", "x cut"),
        ('<a href="' * 3, '<a href="' * 3),
        ("<!DOCTYPE html><p>x</p>", "x"),
    ],
)
def test_a_sign_that_begins_no_tag_is_shown(html: str, shown: str) -> None:
    assert markdown_of(html) == shown
