"""Logs of Claude Code as it really writes them: who said what, on which branch, in which session."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.exports.files import put_lines
from tests.fixtures.exports.imported import Said, bring_in, name_of, said_in, stored_in

from conversation_mcp.importing.importer import Report
from conversation_mcp.records.models import Conversation

LOGS = Path(__file__).parents[1] / "fixtures" / "claude_code"
COLOUR: Said = (
    ("user", "Name a colour for the logo."),
    ("assistant", "Teal."),
    ("user", "Keep teal, but darker."),
    ("assistant", "Dark teal it is."),
)


async def brought_in(folder: Path, name: str, **options: Any) -> tuple[Report, list[Conversation]]:
    report = await bring_in(LOGS / name, folder, **options)
    return report, await stored_in(folder)


def record(name: str, parent: str | None, kind: str, content: object = None, **facts: object) -> dict[str, Any]:
    """Return a record with what the program writes into each."""
    said = {"message": {"role": kind, "content": content}} if content is not None else {}
    return {"type": kind, "uuid": name, "parentUuid": parent, "sessionId": "s", "isSidechain": False, **said, **facts}


async def of_records(
    folder: Path, *records: dict[str, Any], **options: Any
) -> tuple[dict[str, int], list[Conversation]]:
    """Return what was left out, and the conversations."""
    report = await bring_in(put_lines(folder / "session.jsonl", [*records]), folder, **options)
    assert not report.problems
    return {name: count for name, count in report.left_out.items() if count}, await stored_in(folder)


async def test_a_question_that_was_typed_while_it_worked_stands_between_the_answers(tmp_path: Path) -> None:
    report, (conversation,) = await brought_in(tmp_path, "queued.jsonl")
    assert said_in(conversation) == (
        ("user", "Write a parser for the invoice file."),
        ("assistant", "I will look at the file first."),
        ("user", "Amounts are in Swiss francs, not euros."),
        ("assistant", "Understood: francs. The parser is written."),
    )
    assert not report.left_out["queue-operation"]


async def test_a_question_that_was_queued_and_never_sent_is_counted(tmp_path: Path) -> None:
    queued = {"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "content": "Never sent."}
    left_out, (conversation,) = await of_records(
        tmp_path, record("1", None, "user", "One?"), queued, record("2", "1", "assistant", "One.")
    )
    assert left_out == {"queue-operation": 1}
    assert "Never sent." not in str(conversation.data())


async def test_a_failure_is_no_answer_and_its_question_a_failed_one(tmp_path: Path) -> None:
    _, (conversation,) = await brought_in(tmp_path, "api-error.jsonl")
    assert said_in(conversation) == (("user", "How large is the cache?"), ("assistant", "The cache holds 256 MB."))
    assert conversation.unanswered_turns
    (first,), last = conversation.unanswered_turns, conversation.pending_turn
    assert first.error
    assert last
    assert last.error
    assert (first.question, first.status, first.started_at) == (
        "How large is the cache?",
        "failed",
        "2026-05-04T09:00:00.000Z",
    )
    assert (first.error.code, first.error.message[:22]) == ("PROVIDER_RATE_LIMITED", "API Error: Server is t")
    assert (last.question, last.status, last.error.message) == (
        "And on disk?",
        "failed",
        "You've hit your limit · resets 3pm",
    )


async def test_a_failed_question_that_is_answered_later_is_one_when_the_log_has_grown(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (LOGS / "api-error.jsonl").read_text(encoding="utf-8").splitlines()]
    session = {"sessionId": lines[0]["sessionId"]}
    await of_records(tmp_path, *lines)
    grown = (
        record("u4", "a3", "user", "And on disk?", **session),
        record("a4", "u4", "assistant", "2 GB.", **session),
    )
    report = await bring_in(put_lines(tmp_path / "session.jsonl", [*lines, *grown]), tmp_path)
    (conversation,) = await stored_in(tmp_path)
    assert report.counts == {"extended": 1}
    assert said_in(conversation)[2:] == (("user", "And on disk?"), ("assistant", "2 GB."))
    assert conversation.pending_turn is None
    assert [turn.question for turn in conversation.unanswered_turns or ()] == [
        "How large is the cache?",
        "And on disk?",
    ]


async def test_a_failure_after_some_text_is_a_notice_of_the_answer(tmp_path: Path) -> None:
    failure = {"isApiErrorMessage": True}
    _, (conversation,) = await of_records(
        tmp_path,
        record("1", None, "user", "One?"),
        record("2", "1", "assistant", "I look."),
        record("3", "2", "assistant", [{"type": "text", "text": "API Error: 500"}], **failure),
    )
    assert said_in(conversation) == (("user", "One?"), ("assistant", "I look."))
    assert conversation.messages[1].notices == ("a call failed meanwhile: API Error: 500",)


async def test_what_no_person_wrote_is_no_question(tmp_path: Path) -> None:
    report, (conversation,) = await brought_in(tmp_path, "noise.jsonl")
    assert said_in(conversation) == (
        ("user", "Refactor the loader."),
        ("assistant", "I will start with the cache."),
        ("user", "No, start with the tests."),
        ("assistant", "Tests first. Done."),
    )
    assert {name: count for name, count in report.left_out.items() if count} == {
        "bash-input": 1,
        "bash-stdout": 1,
        "bash-stderr": 1,
        "Request interrupted by user": 1,
        "task-notification": 1,
        "<synthetic>": 1,
    }


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("<ide_opened_file>The user opened a.py</ide_opened_file>\nWhat is this?", "What is this?"),
        ("What is this?\n\n<system-reminder>\nBe brief.\n</system-reminder>\n", "What is this?"),
        ("What does <bash-input> mean?", "What does <bash-input> mean?"),
        ("<bash-input> is what?", "<bash-input> is what?"),
        ("<note>mine</note> What now?", "<note>mine</note> What now?"),
    ],
)
async def test_a_question_is_kept_without_what_the_program_put_around_it(
    tmp_path: Path, text: str, question: str
) -> None:
    _, (conversation,) = await of_records(
        tmp_path, record("1", None, "user", text), record("2", "1", "assistant", "So.")
    )
    assert said_in(conversation)[0] == ("user", question)


async def test_whatever_holds_words_and_is_not_taken_is_counted_by_its_name(tmp_path: Path) -> None:
    left_out, _ = await of_records(
        tmp_path,
        record("1", None, "user", [{"type": "text", "text": "One?"}, {"type": "riddle", "verse": "Two words"}]),
        record("2", "1", "new-kind", note="Remember the milk"),
        record("3", "2", "attachment", attachment={"type": "file", "content": {"text": "word"}}),
        record("4", "3", "system", subtype="away_summary", content="You were away."),
        record("5", "4", "system", subtype="turn_duration", durationMs=5),
        record("6", "5", "user", "Channel says no.", origin={"kind": "coordinator"}),
        record("7", "6", "assistant", "One."),
        {"type": "unlinked-kind", "sessionId": "s", "text": "Hm."},
    )
    assert left_out == {
        "riddle": 1,
        "new-kind": 1,
        "attachment file": 1,
        "system away_summary": 1,
        "coordinator": 1,
        "unlinked-kind": 1,
    }


@pytest.mark.parametrize("name", ["rewind.jsonl", "rewind-plain.jsonl"])
async def test_what_was_taken_back_is_another_branch(tmp_path: Path, name: str) -> None:
    report, (conversation,) = await brought_in(tmp_path, name)
    assert said_in(conversation) == COLOUR
    assert report.left_out["other branches"] == 1
    _, both = await brought_in(tmp_path, name, all_branches=True)
    (branch,) = (each for each in both if each.parent)
    assert [text for _, text in said_in(branch)] == [
        "Name a colour for the logo.",
        "Teal.",
        "Make it red instead and delete the teal file.",
        "Deleted the teal file; the logo is red.",
    ]


async def test_a_first_question_that_was_taken_back_is_another_branch(tmp_path: Path) -> None:
    left_out, (conversation,) = await of_records(
        tmp_path,
        record("1", None, "user", "Red?"),
        record("2", "1", "assistant", "Red."),
        record("3", None, "user", "Blue?"),
        record("4", "3", "assistant", "Blue."),
    )
    assert [text for _, text in said_in(conversation)] == ["Blue?", "Blue."]
    assert left_out == {"other branches": 1}


async def test_an_answer_that_came_when_a_call_was_repeated_is_no_branch(tmp_path: Path) -> None:
    report, (conversation,) = await brought_in(tmp_path, "retry.jsonl")
    assert [text for _, text in said_in(conversation)] == [
        "What is the limit?",
        "The limit is ten.",
        "And the minimum?",
        "One.",
    ]
    assert not report.left_out["other branches"]


async def test_an_answer_with_tools_after_two_failures_is_no_branch(tmp_path: Path) -> None:
    use, result = [{"type": "tool_use"}], [{"type": "tool_result", "content": "done"}]
    left_out, (conversation,) = await of_records(
        tmp_path,
        record("1", None, "user", "One?"),
        record("e1", "1", "system", subtype="api_error"),
        record("e2", "e1", "system", subtype="api_error"),
        record("2", "1", "assistant", use),
        record("3", "2", "user", result),
        record("4", "3", "assistant", "One."),
        record("5", "e2", "user", "Two?"),
        record("6", "5", "assistant", "Two."),
    )
    assert [text for _, text in said_in(conversation)] == ["One?", "One.", "Two?", "Two."]
    assert left_out == {"tool messages": 2}


async def test_two_files_that_name_one_session_both_come_in(tmp_path: Path) -> None:
    report, stored = await brought_in(tmp_path, "project")
    assert report.counts == {"imported": 2}
    assert [text for each in stored for _, text in said_in(each)] == [
        "Plan the garden.",
        "Start with the beds.",
        "Where do the roses go?",
        "Along the south wall.",
    ]
    assert (await bring_in(LOGS / "project", tmp_path)).counts == {"unchanged": 2}


async def test_a_session_that_was_imported_under_the_id_in_its_records_is_known_again(tmp_path: Path) -> None:
    records = [record("u1", None, "user", "What?"), record("a1", "u1", "assistant", "That.")]
    more = [*records, record("u2", "a1", "user", "Why?"), record("a2", "u2", "assistant", "So.")]
    put_lines(tmp_path / "log.jsonl", records)
    await bring_in(tmp_path / "log.jsonl", tmp_path)
    named = tmp_path / "00000000-0000-4000-8000-0000000000ff.jsonl"
    for lines, outcome in ((records, "unchanged"), (more, "extended")):
        report = await bring_in(put_lines(named, lines), tmp_path)
        assert report.counts == {outcome: 1}
    assert [each.message_count for each in await stored_in(tmp_path)] == [4]


async def test_two_files_of_any_name_that_name_one_session_both_come_in(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    put_lines(folder / "a.jsonl", [record("1", None, "user", "One?"), record("2", "1", "assistant", "One.")])
    put_lines(folder / "b.jsonl", [record("3", "2", "user", "Two?"), record("4", "3", "assistant", "Two.")])
    report = await bring_in(folder, tmp_path)
    assert report.counts == {"imported": 2}


async def test_files_that_repeat_the_ids_of_other_records_too_all_come_in(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("a", "b", "c"):
        said = (record("1", None, "user", f"{name}?"), record("2", "1", "assistant", f"{name}."))
        put_lines(folder / f"{name}.jsonl", [*said])
    assert (await bring_in(folder, tmp_path)).counts == {"imported": 3}


async def test_two_sessions_in_one_file_are_two_conversations(tmp_path: Path) -> None:
    report, stored = await brought_in(tmp_path, "mixed.jsonl")
    assert report.counts == {"imported": 2}
    assert [name_of(each) for each in stored] == ["Session one: what is a monad?", "Session two: book a table."]


async def test_a_session_that_goes_on_under_another_id_is_one_conversation(tmp_path: Path) -> None:
    _, (conversation,) = await of_records(
        tmp_path,
        record("1", None, "user", "One?"),
        record("2", "1", "assistant", "One."),
        record("3", "2", "user", "Two?", sessionId="t"),
        record("4", "3", "assistant", "Two.", sessionId="t"),
    )
    assert len(conversation.messages) == 4


async def test_a_title_belongs_to_the_session_of_the_record_that_it_names(tmp_path: Path) -> None:
    left_out, stored = await of_records(
        tmp_path,
        {"type": "summary", "summary": "The second", "leafUuid": "4"},
        {"type": "summary", "summary": "Of another file", "leafUuid": "9"},
        record("1", None, "user", "One?"),
        record("2", "1", "assistant", "One."),
        record("3", None, "user", "Two?", sessionId="t"),
        record("4", "3", "assistant", "Two.", sessionId="t"),
    )
    assert {name_of(each) for each in stored} == {"One?", "The second"}
    assert left_out == {"summary": 1}
