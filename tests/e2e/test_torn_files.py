"""Torn writes, interleaved writes and several processes: damage is told where it is, and is never made by us."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from mcp import Client
from tests.fixtures.folders import ID, left_behind, only_conversation, only_file
from tests.fixtures.handwritten import bytes_below, roles_of, written
from tests.fixtures.processes import environment
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, error_of, serving

OTHER = "20260131-1769817600001"
TURN = (("system", "Be brief."), ("user", "one?"), ("assistant", "One."))
CALLS: list[tuple[str, dict[str, str]]] = [
    ("search_followup", {"query": "two?"}),
    ("deep_research_followup", {"query": "two?"}),
    ("get_conversation_history", {}),
]


def glued(whole: bytes) -> bytes:
    return whole + whole


def glued_to_a_stub(whole: bytes) -> bytes:
    return whole[: len(whole) // 2] + whole


def with_a_broken_line(whole: bytes) -> bytes:
    return whole.replace(b'"role": "user"', b'"role": "us')


def without_its_last_bracket(whole: bytes) -> bytes:
    return whole.rstrip()[:-1]


def with_a_torn_tail(whole: bytes) -> bytes:
    return whole[:-20]


def empty(_whole: bytes) -> bytes:
    return b""


def garbage(_whole: bytes) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def filled_with_nul(whole: bytes) -> bytes:
    return bytes(len(whole))


DAMAGES: list[tuple[Callable[[bytes], bytes], str]] = [
    (glued, "is not valid JSON at line "),
    (glued_to_a_stub, "is not valid JSON at line "),
    (with_a_broken_line, "is not valid JSON at line "),
    (without_its_last_bracket, "is not valid JSON at line "),
    (with_a_torn_tail, "is not valid JSON at line "),
    (empty, "is empty."),
    (garbage, "is not UTF-8 at line 1, column 1 (byte 1)."),
    (filled_with_nul, "holds nothing but NUL bytes."),
]


@dataclass(frozen=True)
class Told:
    code: str
    message: str


async def told_by(client: Client, tool: str, arguments: dict[str, str]) -> Told:
    error = error_of(await client.call_tool(tool, {"conversationId": ID, **arguments}))
    return Told(error["code"], error["message"])


@pytest.mark.parametrize(("damage", "told"), DAMAGES)
async def test_a_damaged_file_is_told_by_every_tool_left_as_it_is_and_mended_by_hand(
    tmp_path: Path, damage: Callable[[bytes], bytes], told: str
) -> None:
    """Torn writes: two documents glued into one file, stubs with something appended, lines broken by hand."""
    path = written(tmp_path, *TURN)
    written(tmp_path, *TURN, conversation_id=OTHER)
    whole = path.read_bytes()
    damaged = damage(whole)
    path.write_bytes(damaged)
    provider = FakeProvider()
    async with serving(tmp_path, provider) as client:
        for tool, arguments in CALLS:
            answer = await told_by(client, tool, arguments)
            assert answer.code == "CONVERSATION_CORRUPTED"
            assert answer.message.startswith(f"{path} {told}")
            assert path.read_bytes() == damaged
        assert provider.requests == []
        data_of(await client.call_tool("search_followup", {"conversationId": OTHER, "query": "two?"}))
        path.write_bytes(whole)
        data_of(await client.call_tool("search_followup", {"conversationId": ID, "query": "two?"}))
    assert [message.content for message in provider.requests[-1].messages] == ["Be brief.", "one?", "One.", "two?"]


def no_file(path: Path) -> None:
    path.unlink()


def a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(("make", "code"), [(no_file, "CONVERSATION_NOT_FOUND"), (a_directory, "FILESYSTEM_ERROR")])
async def test_a_conversation_that_cannot_be_read_is_never_taken_for_a_new_one(
    tmp_path: Path, make: Callable[[Path], None], code: str
) -> None:
    """Any read error taken for an empty history, so that a new session begins over the old one."""
    path = written(tmp_path, *TURN)
    make(path)
    before = {place for place in tmp_path.rglob("*") if ".locks" not in place.parts and ".calls" not in place.parts}
    provider = FakeProvider()
    async with serving(tmp_path, provider) as client:
        for tool, arguments in CALLS:
            assert (await told_by(client, tool, arguments)).code == code
    after = {place for place in tmp_path.rglob("*") if ".locks" not in place.parts and ".calls" not in place.parts}
    assert after == before
    assert provider.requests == []


async def test_fifty_follow_ups_of_one_reply_are_fifty_whole_turns_in_a_row(tmp_path: Path) -> None:
    """Interleaved appends: several calls in one reply corrupt the file or lose each other's messages."""
    provider = FakeProvider()
    path = written(tmp_path, *TURN)
    questions = [f"question {number}? " + "word " * 400 for number in range(50)]
    async with serving(tmp_path, provider) as client, anyio.create_task_group() as tasks:
        for question in questions:
            call = {"conversationId": ID, "query": question}
            tasks.start_soon(client.call_tool, "search_followup", call)
    stored: dict[str, Any] = json.loads(path.read_bytes())
    asked, answered = stored["messages"][3::2], stored["messages"][4::2]
    assert sorted(message["content"] for message in asked) == sorted(questions)
    for number, (question, answer) in enumerate(zip(asked, answered, strict=True), 1):
        assert answer["content"] == f"answer {number} to {question['content']} [1]"
    assert [len(request.messages) for request in provider.requests] == [4 + 2 * number for number in range(50)]


async def test_the_file_is_one_document_that_other_programs_can_read(tmp_path: Path) -> None:
    """Files called `.json` that hold one document per line, which no tool for JSON takes."""
    async with serving(tmp_path, FakeProvider()) as client:
        first = data_of(await client.call_tool("search", {"query": "one? 😀\0\u2028"}))
        await client.call_tool("search_followup", {"conversationId": first["conversationId"], "query": "two?"})
    path = only_file(tmp_path)
    run = await to_thread.run_sync(
        lambda: subprocess.run([sys.executable, "-m", "json.tool", path], check=True, capture_output=True)
    )
    assert json.loads(run.stdout) == only_conversation(tmp_path)


async def test_what_was_edited_between_two_calls_is_what_is_sent_next(tmp_path: Path) -> None:
    """Stale copies: a server that appends to what it remembers, not to what another one has written."""
    provider = FakeProvider()
    async with serving(tmp_path, provider) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        conversation = {"conversationId": first["conversationId"]}
        await client.call_tool("get_conversation_history", conversation)
        path = only_file(tmp_path)
        path.write_text(path.read_text().replace("answer 1 to one?", "what I meant to hear"), encoding="utf-8")
        page = data_of(await client.call_tool("get_conversation_history", conversation))
        await client.call_tool("search_followup", {**conversation, "query": "two?"})
    assert page["messages"][1]["content"] == "what I meant to hear [1]"
    assert provider.requests[1].messages[2].content == "what I meant to hear [1]"
    assert only_conversation(tmp_path)["messages"][2]["content"] == "what I meant to hear [1]"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'{"conversationId": "../x"}', b"\xff" * 64, b"[" * 9999])
async def test_a_damaged_register_of_calls_costs_no_question_and_no_start(tmp_path: Path, data: bytes) -> None:
    """A side file damaged by a crash that stops the program from starting, or from working."""
    async with serving(tmp_path, FakeProvider(), answer_wait_seconds=0) as client:
        await client.call_tool("search", {"query": "one?"})
    (entry,) = (tmp_path / "conversation-logs" / ".calls").iterdir()
    entry.write_bytes(data)
    async with serving(tmp_path, FakeProvider()) as client:
        assert data_of(await client.call_tool("search", {"query": "one?"}))["status"] == "completed"


async def test_a_register_of_calls_that_names_what_is_gone_gives_way_to_the_folder(tmp_path: Path) -> None:
    """A side index that disagrees with the files after a crash, and wins."""
    provider = FakeProvider()
    async with serving(tmp_path, provider, answer_wait_seconds=0) as client:
        await client.call_tool("search", {"query": "one?"})
    path = only_file(tmp_path)
    path.unlink()
    path.parent.rmdir()
    async with serving(tmp_path, provider) as client:
        data_of(await client.call_tool("search", {"query": "one?"}))
    assert roles_of(only_conversation(tmp_path)["messages"]) == ["system", "user", "assistant"]


def test_resume_tells_a_damaged_file_and_settles_the_others(tmp_path: Path) -> None:
    """One bad file that hides all the others, or vanishes from the list itself."""
    left_behind(tmp_path)
    damaged = written(tmp_path, *TURN, conversation_id=OTHER)
    damaged.write_bytes(damaged.read_bytes()[:-30])
    before = bytes_below(damaged.parent)
    run = subprocess.run(
        [sys.executable, "-m", "conversation_mcp", "resume"],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment(tmp_path),
        cwd=tmp_path,
    )
    assert ID in run.stdout
    assert f"CONVERSATION_CORRUPTED: {damaged} is not valid JSON at line " in run.stderr
    assert only_pending_status(tmp_path) == "interrupted"
    assert bytes_below(damaged.parent) == before


def only_pending_status(folder: Path) -> str:
    path = folder / "conversation-logs" / ID / "conversation.json"
    return json.loads(path.read_bytes())["pendingTurn"]["status"]
