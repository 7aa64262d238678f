"""Files that questions name, and servers that die, have no room, or ask at the same time."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from dirty_equals import IsPartialDict
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.disks import DiskServer, disk_server
from tests.fixtures.folders import only_conversation, only_file
from tests.fixtures.handwritten import strays_below
from tests.fixtures.processes import environment
from tests.fixtures.stores import fill, small_disk

from conversation_mcp.records.hashes import hash_of

TEXT = "".join(f"line {number} of the file\n" for number in range(4_000))
HASH = hash_of(TEXT.encode())
ROOM_FOR_A_QUESTION, ROOM_FOR_ONE_FILE = 28_000, 130_000


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """A file that questions name; it lies on a disk with room."""
    path = tmp_path / "src" / "named.txt"
    path.parent.mkdir()
    path.write_text(TEXT)
    return path


def server_for(folder: Path, agent: LoopbackAgent, named: Path) -> DiskServer:
    server = DiskServer(folder, agent, CONVERSATION_MCP_ROOTS=str(named.parent))
    server.initialize()
    return server


def kept(folder: Path) -> dict[str, bytes]:
    """Return what is kept beside the only conversation, by name."""
    contents = only_file(folder).parent / "files"
    return {path.name: path.read_bytes() for path in contents.iterdir()} if contents.is_dir() else {}


def times_sent(request: dict[str, Any]) -> int:
    return json.dumps(request).count("line 3999 of the file")


def assert_intact(folder: Path) -> None:
    command = [sys.executable, "-m", "conversation_mcp", "verify"]
    done = subprocess.run(command, env=environment(folder), cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_server_that_is_killed_after_the_files_are_kept_and_before_they_are_sent_loses_nothing(
    tmp_path: Path, agent: LoopbackAgent, named: Path
) -> None:
    with server_for(tmp_path, agent, named) as server:
        same = {"conversationId": server.data("search", query="one?")["conversationId"]}
    call = {"query": "two?", "files": [str(named)], **same}
    with closing(socket.create_server(("127.0.0.1", 0))) as nobody:  # it accepts no one, so that nothing is sent
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        roots = {"CONVERSATION_MCP_ROOTS": str(named.parent), "PERPLEXITY_BASE_URL": address}
        with DiskServer(tmp_path, agent, **roots) as server:
            server.initialize()
            server.begin("search_followup", **call)
            deadline = time.monotonic() + 60
            while HASH not in kept(tmp_path) and time.monotonic() < deadline:
                time.sleep(0.01)
            os.kill(server.process.pid, signal.SIGKILL)
            server.process.wait()
    named.write_text("changed meanwhile\n")
    killed = only_conversation(tmp_path)
    assert kept(tmp_path) == {HASH: TEXT.encode()}
    assert killed["pendingTurn"] == IsPartialDict(question="two?", files=[IsPartialDict(sha256=HASH, sent="whole")])
    assert_intact(tmp_path)
    named.write_text(TEXT)
    with server_for(tmp_path, agent, named) as server:
        again = server.data("search_followup", **call)
    assert again["files"] == [IsPartialDict(sha256=HASH, sent="whole")]
    assert [times_sent(request) for request in agent.requests] == [0, 1]
    assert kept(tmp_path) == {HASH: TEXT.encode()}
    assert strays_below(tmp_path) == []
    assert_intact(tmp_path)


@pytest.fixture
def disk(tmp_path: Path) -> Generator[Path]:
    with small_disk(tmp_path / "disk", "400k") as folder:
        yield folder


@pytest.mark.parametrize("room", [ROOM_FOR_A_QUESTION, ROOM_FOR_ONE_FILE])
def test_on_a_disk_without_room_for_the_files_nothing_is_sent_and_the_same_call_works_once_there_is(
    disk: Path, agent: LoopbackAgent, named: Path, room: int
) -> None:
    other = named.with_name("other.txt")
    other.write_text(TEXT.replace("line", "row"))
    contents = {hash_of(path.read_bytes()): path.read_bytes() for path in (named, other)}
    with disk_server(disk, agent, CONVERSATION_MCP_ROOTS=str(named.parent)) as server:
        same = {"conversationId": server.data("search", query="one?")["conversationId"]}
        call = {"query": "two?", "files": [str(named), str(other)], **same}
        fill(disk, room)
        error = server.error("search_followup", **call)
        failed, left = only_conversation(disk)["pendingTurn"], kept(disk)
        (disk / "ballast").unlink()
        again = server.data("search_followup", **call)
    assert error["code"] == "FILESYSTEM_ERROR"
    assert "no space left" in error["message"]
    assert failed == IsPartialDict(question="two?", status="failed", error=IsPartialDict(code="FILESYSTEM_ERROR"))
    assert "sentTo" not in failed or failed["sentTo"] == {}
    assert len(left) == (room == ROOM_FOR_ONE_FILE)
    assert left.items() <= contents.items()  # whole or not at all
    assert again["files"] == [IsPartialDict(sent="whole"), IsPartialDict(sent="whole")]
    assert [times_sent(request) for request in agent.requests] == [0, 1]
    assert kept(disk) == contents
    assert strays_below(disk) == []


def test_two_servers_that_ask_with_the_same_files_at_once_keep_and_send_them_once(
    tmp_path: Path, agent: LoopbackAgent, named: Path
) -> None:  # defect 17
    with server_for(tmp_path, agent, named) as one, server_for(tmp_path, agent, named) as other:
        same = {"conversationId": one.data("search", query="one?")["conversationId"]}
        servers = (one, other)
        calls = [
            server.begin("search_followup", query=f"from {place}?", files=[str(named)], **same)
            for place, server in enumerate(servers)
        ]
        results = [server.result(call)["structuredContent"] for server, call in zip(servers, calls, strict=True)]
    assert sorted(result["files"][0]["sent"] for result in results) == ["known", "whole"]
    assert [times_sent(request) for request in agent.requests] == [0, 1, 1]
    messages = only_conversation(tmp_path)["messages"]
    assert [message["files"][0]["sent"] for message in messages if "files" in message] == ["whole", "known"]
    assert kept(tmp_path) == {HASH: TEXT.encode()}
    assert strays_below(tmp_path) == []
    assert_intact(tmp_path)
