"""What is kept of the files that questions name: what happens when it cannot be, and when it changes or is lost."""

import io
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from dirty_equals import IsPartialDict, IsStr
from mcp import Client
from tests.fixtures.attached import lose
from tests.fixtures.cli import Here
from tests.fixtures.databases import PostgreSQL
from tests.fixtures.homes import Home
from tests.fixtures.memory_store.contents import MemoryContents
from tests.fixtures.models import FakeModels
from tests.fixtures.providers import answer_to, held
from tests.fixtures.serving import data_of, error_of, serving, text_of
from tests.fixtures.stores import SERVERS
from tests.fixtures.valkey import Valkey

from conversation_mcp.errors import FilesystemError
from conversation_mcp.providers.base import Answer, Event, Finished, Request
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.stores.files.contents import ContentFiles
from conversation_mcp.stores.postgresql.contents import ContentRows
from conversation_mcp.stores.redis.contents import ContentFields

CODE = "def add(a, b):\n    return a + b\n"
SOL = "openai:gpt-6-sol"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    path = tmp_path / "src" / "add.py"
    path.parent.mkdir()
    path.write_text(CODE)
    return path


def opened(home: Home, code: Path, provider: FakeModels, **changes: Any) -> AbstractAsyncContextManager[Client]:
    return serving(home, provider, tools=("research", "models"), roots=(code.parent,), **changes)


async def chat(client: Client, prompt: str, **arguments: object) -> dict[str, Any]:
    return data_of(await client.call_tool("chat", {"prompt": prompt, "model": SOL, **arguments}))


def said(request: Request) -> list[tuple[str, str]]:
    return [(one.role, one.content) for one in request.messages]


@pytest.mark.parametrize("is_follow_up", [False, True], ids=["start", "follow-up"])
async def test_when_files_cannot_be_kept_nothing_is_sent_and_the_question_says_why(
    home: Home, code: Path, monkeypatch: pytest.MonkeyPatch, *, is_follow_up: bool
) -> None:
    def full(_self: object, conversation_id: str, _contents: object) -> None:
        raise FilesystemError("/full", "has no space left", conversation_id)

    openai = FakeModels(name="openai")
    async with opened(home, code, openai) as client:
        same = {"conversationId": (await chat(client, "zero?"))["conversationId"]} if is_follow_up else {}
        before = len(openai.requests)
        call = {"prompt": "one?", "model": SOL, "files": [str(code)], **same}
        with monkeypatch.context() as disk:
            disk.setattr(ContentFiles, "put", full)
            disk.setattr(MemoryContents, "put", full)
            disk.setattr(ContentRows, "put", full)
            disk.setattr(ContentFields, "put", full)
            error = error_of(await client.call_tool("chat", call))
        failed = home.only()["pendingTurn"]
        assert len(openai.requests) == before
        again = await chat(client, "one?", files=[str(code)], **same)
    assert error == IsPartialDict(code="FILESYSTEM_ERROR", message=IsStr(regex=".*no space left.*"))
    assert failed == IsPartialDict(status="failed", error=IsPartialDict(code="FILESYSTEM_ERROR"))
    assert again["files"] == [IsPartialDict(sent="whole")]
    assert said(openai.requests[-1])[-1][1].count("return a + b") == 1


@pytest.fixture
def other(home: Home, request: pytest.FixtureRequest) -> Iterator[Home]:
    """Another place for conversations, in the same kind of store."""
    scheme = home.store_url.partition(":")[0]
    if scheme not in SERVERS:
        yield replace(home, store_url=home.store_url + "-other")
        return
    server: PostgreSQL | Valkey = request.getfixturevalue(SERVERS[scheme])
    yield replace(home, store_url=(url := server.database()))
    server.drop(url)


async def test_a_file_that_changes_while_its_question_is_pending_and_then_goes_stays_as_it_was_asked(
    home: Home, code: Path
) -> None:
    async def while_asked(request: Request) -> AsyncGenerator[Event]:
        await anyio.Path(code).write_text("changed\n")
        yield Finished(answer_to(request, 1))

    openai = FakeModels(while_asked, name="openai")
    async with opened(home, code, openai) as client:
        first = await chat(client, "one?", files=[str(code)])
        code.unlink()
        await chat(client, "two?", conversationId=first["conversationId"])
    one, two = map(said, openai.requests)
    assert first["files"] == [IsPartialDict(sha256=hash_of(CODE.encode()), sent="whole")]
    assert "return a + b" in one[-1][1]
    assert two[: len(one)] == one


@pytest.mark.parametrize("content", [None, b"", b"def add(a, b):\n    return a - b\n"], ids=["gone", "cut", "changed"])
async def test_contents_that_were_removed_or_damaged_by_hand_are_missed_aloud_and_can_be_sent_again(
    home: Home, code: Path, content: bytes | None
) -> None:
    openai = FakeModels(name="openai")
    async with opened(home, code, openai) as client:
        same = {"conversationId": (await chat(client, "one?", files=[str(code)]))["conversationId"]}
    lose(home, same["conversationId"], hash_of(CODE.encode()), content)
    async with opened(home, code, openai) as client:
        missed = await chat(client, "two?", **same)
        again = await chat(client, "three?", files=[str(code)], **same)
        whole = await chat(client, "four?", **same)
    assert any("content is no longer kept: 1 file" in notice for notice in missed["notices"])
    assert not any("return a" in content for role, content in said(openai.requests[1]) if role == "user")
    assert again["files"] == [IsPartialDict(sha256=hash_of(CODE.encode()))]
    assert not any("no longer kept" in notice for notice in whole.get("notices", []))
    for request in openai.requests[2:]:
        assert sum(content.count("return a + b") for role, content in said(request) if role == "user") == 1


async def test_the_same_call_again_gets_the_undelivered_answer_with_the_files_that_were_sent(
    home: Home, code: Path
) -> None:
    release = anyio.Event()
    openai = FakeModels(held(release), name="openai")
    call = {"prompt": "one?", "model": SOL, "files": [str(code)]}
    async with opened(home, code, openai, answer_wait_seconds=0) as client:
        running = data_of(await client.call_tool("chat", call))
        release.set()
        await home.until_settled()
    async with opened(home, code, openai) as client:
        again = await client.call_tool("chat", call)
    assert data_of(again) == IsPartialDict(
        conversationId=running["conversationId"],
        files=[IsPartialDict(path=str(code), sha256=hash_of(CODE.encode()), sent="whole")],
    )
    assert str(code) in text_of(again)
    assert len(openai.requests) == 1


async def test_a_call_whose_server_died_is_settled_with_the_files_that_it_sent(home: Home, code: Path) -> None:
    call = {"prompt": "one?", "model": SOL, "files": [str(code)]}
    first, second = FakeModels(held(anyio.Event()), name="openai"), FakeModels(name="openai")
    async with opened(home, code, first, answer_wait_seconds=0, ending_grace_seconds=0) as client:
        data_of(await client.call_tool("chat", call))
    pending = home.only()["pendingTurn"]
    second.runs["resp_held"] = Finished(Answer("whole after all"))
    async with opened(home, code, second) as client:
        again = data_of(await client.call_tool("chat", call))
        await chat(client, "two?", conversationId=again["conversationId"])
    sent = [IsPartialDict(path=str(code), sha256=hash_of(CODE.encode()), sent="whole")]
    assert pending["files"] == sent
    assert again == IsPartialDict(rawResultText="whole after all", files=sent)
    assert home.only()["messages"][1]["files"] == sent
    assert said(second.requests[0])[:2] == said(first.requests[0])


async def test_the_history_lists_the_files_of_each_question(home: Home, code: Path) -> None:
    async with opened(home, code, FakeModels(name="openai")) as client:
        same = {"conversationId": (await chat(client, "one?", files=[str(code)]))["conversationId"]}
        await chat(client, "two?", **same)
        shown = await client.call_tool("get_conversation_history", same)
    files = [message.get("files") for message in data_of(shown)["messages"] if message["role"] == "user"]
    assert files == [[IsPartialDict(path=str(code), bytes=len(CODE), sent="whole")], None]
    assert str(code) in text_of(shown)


async def test_two_servers_that_name_the_same_file_in_one_conversation_send_it_once(home: Home, code: Path) -> None:
    release, asked = anyio.Event(), anyio.Event()
    first, other = FakeModels(name="openai"), FakeModels(name="openai")
    results: list[dict[str, Any]] = []
    async with opened(home, code, first) as one, opened(home, code, other) as two:
        same = {"conversationId": (await chat(one, "zero?"))["conversationId"], "files": [str(code)]}
        first.scripts.append(held(release, asked))

        async def ask(client: Client, prompt: str) -> None:
            results.append(await chat(client, prompt, **same))

        async def waits(progress: float, total: float | None, message: str | None) -> None:
            del progress, total, message
            release.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, one, "one?")
            await asked.wait()
            call = {"prompt": "two?", "model": SOL, **same}
            results.append(data_of(await two.call_tool("chat", call, progress_callback=waits)))
    sent = sorted(file["sent"] for result in results for file in result["files"])
    assert sent == ["known", "whole"]
    before, after = said(first.requests[-1]), said(other.requests[-1])
    assert after[: len(before)] == before
    assert sum(content.count("return a + b") for role, content in after if role == "user") == 1


def test_an_export_that_is_imported_elsewhere_goes_on_with_the_same_messages(
    home: Home, other: Home, code: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    openai = FakeModels(name="openai")

    async def begin() -> str:
        async with opened(home, code, openai) as client:
            return (await chat(client, "one?", files=[str(code)]))["conversationId"]

    async def go_on(there: Home) -> None:
        async with opened(there, code, openai) as client:
            await chat(client, "two?", conversationId=conversation_id)

    conversation_id = anyio.run(begin)
    code.unlink()
    monkeypatch.chdir(home.folder)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    exported = Here(capsys, monkeypatch, home)("export", conversation_id, "--format", "json", "--output", "one.json")
    assert exported.code == 0, exported.err
    imported = Here(capsys, monkeypatch, other)("import", "one.json")
    assert imported.code == 0, imported.err
    anyio.run(go_on, other)
    anyio.run(go_on, home)
    elsewhere, here = openai.requests[-2:]
    assert said(elsewhere) == said(here)
    assert "return a + b" in said(elsewhere)[1][1]
