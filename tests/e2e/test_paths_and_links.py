"""Ids that are paths, and names planted where the program will write."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from tests.fixtures.folders import ID
from tests.fixtures.handwritten import bytes_below, written
from tests.fixtures.processes import environment
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, error_of, serving, text_of
from tests.fixtures.stores import UNKNOWN, Clock, tree

from conversation_mcp.records.ids import created_at, id_at
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Call
from conversation_mcp.stores.files.calls import CallFiles
from conversation_mcp.stores.files.vault import PlainVault

SECRET = b'{"secret": "not yours"}'
TURN = (("user", "one?"), ("assistant", "One."))


@pytest.mark.slow
@pytest.mark.parametrize("command", ["resume", "cancel"])
@pytest.mark.parametrize("text", ["../x", "/etc/passwd", f"{ID}/../../x", ID.replace("0", "\uff10")])
def test_a_command_refuses_an_id_that_is_a_path(tmp_path: Path, command: str, text: str) -> None:
    """Traversal: an id that reads, overwrites or deletes any file of that ending."""
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "conversation.json").write_bytes(SECRET)
    before = bytes_below(tmp_path)
    run = subprocess.run(
        [sys.executable, "-m", "conversation_mcp", command, text],
        check=False,
        capture_output=True,
        env=environment(tmp_path),
        cwd=tmp_path,
    )
    assert run.returncode in {1, 2}
    assert b"Traceback" not in run.stderr
    assert b"secret" not in run.stdout + run.stderr
    assert bytes_below(tmp_path) == before
    assert not (tmp_path / "conversation-logs").exists()


@pytest.mark.parametrize("tool", ["search_followup", "deep_research_followup", "get_conversation_history"])
async def test_an_unknown_id_leaves_no_trace_in_a_folder_that_is_new_to_this_program(tmp_path: Path, tool: str) -> None:
    """An id that nobody knows, for which files and folders are made all the same."""
    written(tmp_path, *TURN)
    before = tree(tmp_path)
    arguments = {"conversationId": UNKNOWN} | ({"query": "two?"} if "followup" in tool else {})
    async with serving(tmp_path, FakeProvider()) as client:
        assert error_of(await client.call_tool(tool, arguments))["code"] == "CONVERSATION_NOT_FOUND"
    assert tree(tmp_path) == before


@pytest.mark.parametrize("folder", [".calls", ".locks"])
async def test_a_folder_of_our_own_that_is_a_planted_link_is_not_written_through(tmp_path: Path, folder: str) -> None:
    """Planted links: what the program writes beside its data goes where somebody else wants it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "theirs").write_bytes(SECRET)
    before = outside.stat().st_mtime_ns
    written(tmp_path, *TURN)
    (tmp_path / "conversation-logs" / folder).symlink_to(outside)
    async with serving(tmp_path, FakeProvider(), answer_wait_seconds=0) as client:
        await client.call_tool("search_followup", {"conversationId": ID, "query": "two?"})
        await client.call_tool("search", {"query": "three?"})
    assert outside.stat().st_mtime_ns == before
    assert bytes_below(outside) == {"theirs": SECRET}


async def test_a_planted_entry_of_the_register_is_not_followed(tmp_path: Path) -> None:
    """Planted links: a predictable name that leads to a file of somebody else."""
    target = tmp_path / "target"
    target.write_bytes(SECRET)
    calls = CallFiles(tmp_path, Clock(), PlainVault(tmp_path))
    folder = tmp_path / ".calls"
    folder.mkdir()
    (folder / "key").symlink_to(target)
    (folder / f"{ID}.stop").symlink_to(target)
    assert await calls.find("key") is None
    call = Call(ConversationId(ID), created_at(id_at(0)))
    await calls.claim("key", call)
    assert await calls.find("key") == call
    await calls.ask_to_stop(call)
    assert await calls.asked_to_stop([call])
    await calls.forget("key", call)
    assert tree(folder) == []
    assert target.read_bytes() == SECRET


def a_fifo(path: Path) -> None:
    os.mkfifo(path)


def a_link(path: Path) -> None:
    path.symlink_to(path.parents[2] / "target")


def a_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(path.name)
    finally:
        os.chdir(here)


@pytest.mark.parametrize("make", [a_fifo, a_link, a_socket, Path.mkdir])
async def test_what_is_no_file_is_told_at_once_by_every_tool_and_nothing_is_sent(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    """A link replaced by a file, a pipe that a reader waits for without end."""
    (tmp_path / "target").write_bytes(SECRET)
    path = written(tmp_path, *TURN)
    path.unlink()
    make(path)
    kind = path.lstat().st_mode
    provider = FakeProvider()
    async with serving(tmp_path, provider) as client:
        with anyio.fail_after(60):
            for tool in ("search_followup", "deep_research_followup", "get_conversation_history"):
                arguments = {"conversationId": ID} | ({"query": "two?"} if "followup" in tool else {})
                result = await client.call_tool(tool, arguments)
                assert result.is_error
                assert text_of(result).startswith(f"FILESYSTEM_ERROR: {path}: is ")
    assert path.lstat().st_mode == kind
    assert (tmp_path / "target").read_bytes() == SECRET
    assert provider.requests == []


async def test_a_folder_of_conversations_that_is_its_owners_link_stays_one(tmp_path: Path) -> None:
    """A user's own link to another disk, replaced by a folder or a file."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    link = tmp_path / "conversation-logs"
    link.symlink_to(elsewhere)
    async with serving(tmp_path, FakeProvider()) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        conversation = {"conversationId": first["conversationId"]}
        data_of(await client.call_tool("search_followup", {**conversation, "query": "two?"}))
        page = data_of(await client.call_tool("get_conversation_history", conversation))
    assert page["totalCount"] == 4
    assert link.is_symlink()
    assert (elsewhere / first["conversationId"] / "conversation.json").is_file()
