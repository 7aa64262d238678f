"""How conversations, answers and times read."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.fixtures.cli import Here, put_conversation
from tests.fixtures.folders import ID, left_behind

from conversation_mcp.cli.output.answer import put_answer, source_lines
from conversation_mcp.cli.output.times import when
from conversation_mcp.records.models import Source
from conversation_mcp.tooling.rendering.turns import render_sources
from conversation_mcp.turns.result import TurnResult

NOW = datetime(2026, 11, 27, 15, 30, tzinfo=UTC)


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    return Here(capsys, monkeypatch, tmp_path)


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (NOW, "just now"),
        (NOW - timedelta(seconds=59), "just now"),
        (NOW - timedelta(minutes=2, seconds=59), "2 min ago"),
        (NOW - timedelta(hours=1), "1 h ago"),
        (NOW - timedelta(hours=15, minutes=30), "15 h ago"),
        (NOW - timedelta(hours=15, minutes=31), "yesterday"),
        (NOW - timedelta(days=2), "Wed"),
        (NOW - timedelta(days=6), "Sat"),
        (NOW - timedelta(days=7), "20 Nov"),
        (NOW - timedelta(days=365), "2025-11-27"),
        (NOW + timedelta(days=1), "2026-11-28"),
        (NOW + timedelta(minutes=1), "2026-11-27"),
    ],
)
def test_times_read_as_a_person_would_say_them(moment: datetime, words: str) -> None:
    assert when(moment, NOW) == words


def test_days_are_those_of_the_readers_zone() -> None:
    there = timezone(timedelta(hours=10))
    moment = datetime(2026, 11, 27, 13, 30, tzinfo=UTC)
    assert when(moment, datetime(2026, 11, 27, 23, 0, tzinfo=UTC)) == "9 h ago"
    assert when(moment, datetime(2026, 11, 28, 9, 0, tzinfo=there)) == "yesterday"


def test_a_conversation_reads_from_top_to_bottom_with_what_has_no_answer_at_its_end(here: Here, tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is a B-tree?", "tool": "search", "createdAt": "2026-01-31T12:00:00.000Z"},
        {
            "role": "assistant",
            "content": "A balanced tree [1][2].",
            "createdAt": "2026-01-31T12:00:05.000Z",
            "provider": "perplexity",
            "preset": "fast",
            "model": "openai/gpt-6-luna",
            "usage": {"costUsd": 0.0031},
            "sources": [
                {"id": 1, "title": "B-tree", "url": "https://en.wikipedia.org/wiki/B-tree_(x)", "date": "2026-01-20"},
                {"id": 2, "title": "Notes", "path": "/notes/trees.md", "startLine": 7, "endLine": 9},
                {"id": 3, "url": "https://example.org/"},
            ],
            "relatedQuestions": ["What is a B+ tree?"],
            "notices": ["search_mode academic was applied as an instruction."],
            "reasoning": "never shown",
        },
    ]
    put_conversation(
        tmp_path,
        ID,
        messages=messages,
        unansweredTurns=[{"question": "And then?", "tool": "search_followup", "status": "interrupted"}],
        pendingTurn={
            "question": "And last?",
            "tool": "deep_research_followup",
            "status": "running",
            "startedAt": "2026-01-31T12:01:00.000Z",
            "responseId": "resp_1",
            "background": True,
            "partialText": "At last",
        },
    )
    assert here("show", ID, "--raw").out == snapshot("""\
# What is a B-tree?

`20260131-1769817600000` · 1 answer · $0.0031 · updated 2026-01-31 00:00 UTC

---

**Question** · #2 · search · 2026-01-31 12:00 UTC

What is a B-tree?

**Answer** · #3 · perplexity fast (openai/gpt-6-luna) · $0.0031 · 2026-01-31 12:00 UTC

A balanced tree [1][2].

Sources:

- \\[1\\] [B-tree](<https://en.wikipedia.org/wiki/B-tree_(x)>) (2026-01-20)
- \\[2\\] Notes, `/notes/trees.md:7`
- \\[3\\] [https://example.org/](<https://example.org/>)

Related questions:

- What is a B+ tree?

Notices:

- search_mode academic was applied as an instruction.

---

**Question without an answer: interrupted** · search_followup

And then?

---

**Question without an answer: running** · deep_research_followup · 2026-01-31 12:01 UTC

And last?

Text so far:

At last

Get the answer: `conversation-mcp resume 20260131-1769817600000`
""")
    assert here("show", ID).out == here("show", ID, "--raw").out


def test_a_failed_question_shows_why_and_what_it_cost(here: Here, tmp_path: Path) -> None:
    error = {"code": "PROVIDER_QUOTA", "message": "the account is out of credit."}
    left_behind(tmp_path, status="failed", error=error, usage={"costUsd": 0.5}, responseId="resp_1")
    assert here("show", "last").out.partition("One.\n\n")[2] == snapshot("""\
---

**Question without an answer: failed** · deep_research_followup · $0.50 · 2026-01-31 00:00 UTC

two?

PROVIDER_QUOTA: the account is out of credit.
""")


def test_sources_are_numbered_and_say_when_they_are_not_cited() -> None:
    sources = [
        Source(id=1, title="B-tree", url="https://example.org/1"),
        Source(id=2, path="/notes/trees.md", start_line=7),
        Source(id=10, title="Notes", path="/notes/trees.md", start_line=9),
    ]
    assert source_lines(sources, "It is so [1][10].") == snapshot(
        ["   1  B-tree  https://example.org/1", "   2  /notes/trees.md:7 (not cited)", "  10  Notes  /notes/trees.md:9"]
    )
    assert source_lines([], "It is so.") == []


def test_a_source_is_one_line_whatever_its_names_hold(here: Here, tmp_path: Path) -> None:
    hostile = {"id": 1, "title": "Cheap\n\n# Heading", "path": "/notes/a\nb.md", "startLine": 7}
    answer = {"role": "assistant", "content": "It is so [1].", "sources": [hostile]}
    put_conversation(tmp_path, ID, messages=[{"role": "user", "content": "Is it so?"}, answer])
    source = Source.model_validate(hostile)
    assert source_lines([source], "[1]") == ["  1  Cheap # Heading  /notes/a b.md:7"]
    assert render_sources([source], "[1]") == "Sources\n[1] Cheap # Heading — /notes/a b.md:7"
    assert here("show", ID, "--raw").out.endswith("\n\n- \\[1\\] Cheap # Heading, `/notes/a b.md:7`\n")


def test_an_answer_that_is_not_saved_does_not_invite_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    result = TurnResult.of(
        conversation_id=ID, status="completed", raw_result_text="It.", notices=("THIS ANSWER IS NOT SAVED",)
    )
    put_answer(result, "")
    assert capsys.readouterr().err == f"Notice: THIS ANSWER IS NOT SAVED\n{ID} · not saved\n"
