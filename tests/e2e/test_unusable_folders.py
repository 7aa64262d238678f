"""Disks without space, working folders of clients, folders that nobody may write to."""

import json
from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path

import pytest
from anyio import to_thread
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.folders import ID, only_conversation
from tests.fixtures.handwritten import strays_below, written
from tests.fixtures.processes import RawServer
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, error_of, serving
from tests.fixtures.stores import fill, remount, small_disk

from conversation_mcp.providers.base import Answer, Event, Finished, Request, Started

TURN = (("user", "one?"), ("assistant", "One."))
TEXT = "an answer that is worth its money\n" * 1_000


@pytest.fixture
def disk(tmp_path: Path) -> Generator[Path]:
    with small_disk(tmp_path / "disk", "160k") as folder:
        yield folder


async def test_an_answer_that_nobody_got_and_no_disk_took_is_not_paid_again(disk: Path) -> None:
    """Low disk: recording stops silently, and what was paid for meanwhile is asked for again."""

    async def fill_up(_request: Request) -> AsyncGenerator[Event]:
        await to_thread.run_sync(fill, disk, 0)
        yield Started("resp_1")
        yield Finished(Answer(TEXT, response_id="resp_1"))

    provider = FakeProvider(fill_up)
    async with serving(disk, provider, answer_wait_seconds=0) as client:
        running = data_of(await client.call_tool("search", {"query": "one?"}))
        conversation = {"conversationId": running["conversationId"]}
        shown = data_of(await client.call_tool("get_conversation_history", {**conversation, "waitSeconds": 50}))
        await to_thread.run_sync((disk / "ballast").unlink)
        again = data_of(await client.call_tool("search", {"query": "one?"}))
        page = data_of(await client.call_tool("get_conversation_history", {**conversation, "waitSeconds": 50}))
    assert shown["messages"][-1]["content"] == page["messages"][-1]["content"] == TEXT
    assert again["conversationId"] == running["conversationId"]
    assert len(provider.requests) == 1


async def test_a_conversation_goes_on_where_it_was_when_there_is_space_again(disk: Path) -> None:
    """Disk full: files of 0 bytes that never open again, and a session that is corrupted for ever."""
    path = written(disk, *TURN)
    provider = FakeProvider()
    call = ("search_followup", {"conversationId": ID, "query": "two?"})
    async with serving(disk, provider) as client:
        for room_bytes in (0, 4096, 8192, 12288, 16384):
            await to_thread.run_sync(fill, disk, room_bytes)
            await client.call_tool(*call)
            assert json.loads(path.read_bytes())["messages"][:2] == [
                {"role": role, "content": content} for role, content in TURN
            ]
            await to_thread.run_sync((disk / "ballast").unlink)
        data_of(await client.call_tool("get_conversation_history", {"conversationId": ID}))
        data_of(await client.call_tool(*call))
    empty = [found.name for found in disk.rglob("*") if found.is_file() and not found.stat().st_size]
    assert sorted(empty) == [f"{ID}.lock", f"{ID}.write.lock"]
    assert strays_below(disk) == []
    stored = only_conversation(disk)["messages"]
    assert [message["content"] for message in stored if message["role"] == "user"][-1] == "two?"
    assert len(stored) == 2 + 2 * len(provider.requests)


@pytest.mark.slow
def test_a_client_that_starts_servers_in_a_read_only_folder_gets_a_folder_that_can_be_written(
    disk: Path, tmp_path: Path
) -> None:
    """Relative folders: `logs` below the root folder that a desktop client starts its servers in."""
    home = {"XDG_DATA_HOME": str(tmp_path / "data"), "CONVERSATION_LOGS_DIR": ""}
    remount(disk, "ro")
    with LoopbackAgent() as agent, RawServer(tmp_path, agent.base_url, cwd=disk, **home) as server:
        server.initialize()
        server.call("search", query="one?")
        data = server.answer_to(1)["result"]["structuredContent"]
    path = Path(data["conversationPath"])
    assert path.is_relative_to(tmp_path / "data")
    assert json.loads(path.read_bytes())["messageCount"] == 3


@pytest.mark.slow
def test_a_relative_folder_that_cannot_be_made_is_told_by_its_absolute_path(disk: Path, tmp_path: Path) -> None:
    """Relative folders: the error names `logs`, and nobody knows where that was looked for."""
    remount(disk, "ro")
    relative = {"CONVERSATION_LOGS_DIR": "logs"}
    with LoopbackAgent() as agent, RawServer(tmp_path, agent.base_url, cwd=disk, **relative) as server:
        server.initialize()
        server.call("search", query="one?")
        error = server.answer_to(1)["result"]["structuredContent"]
        assert agent.creates == 0
    assert error["code"] == "FILESYSTEM_ERROR"
    assert error["message"].startswith(f"{disk}/logs: the file system is read-only.")


def a_file(path: Path) -> None:
    path.write_text("not a folder")


def a_dangling_link(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


@pytest.mark.parametrize("make", [a_file, a_dangling_link])
async def test_a_folder_that_cannot_be_used_is_named_before_anything_is_sent(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    """A container without the folder it should write to: every tool fails, none says which folder."""
    make(tmp_path / "conversation-logs")
    provider = FakeProvider()
    async with serving(tmp_path, provider) as client:
        error = error_of(await client.call_tool("search", {"query": "one?"}))
    assert error["code"] == "FILESYSTEM_ERROR"
    assert error["message"].startswith(f"{tmp_path}/conversation-logs")
    assert provider.requests == []
