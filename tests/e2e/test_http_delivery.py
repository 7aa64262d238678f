"""A result over HTTP is delivered once the client's end has it: the same call again gets what never arrived, unpaid."""

import json
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from tests.fixtures.over_http import HEADERS, HttpServer, http_server
from tests.fixtures.providers import FakeProvider, held
from tests.fixtures.serving import Era, data_of

from conversation_mcp.server.http import connections

QUESTION = "Why? " * 20_000
ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])
CLOSE = "Connection: close"
KEPT = "whose result was never delivered"


def call_of(era: Era, *lines: str, query: str = QUESTION, tool: str = "search", **named: str) -> bytes:
    """Return the request of a question as it goes over the wire."""
    sent: dict[str, Any] = {"name": tool, "arguments": {"query": query, **named}}
    more = {"mcp-protocol-version": "2025-11-25"}
    if era == "auto":
        more = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": tool}
        about: dict[str, object] = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
        sent["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": sent}).encode()
    headers = [f"{name}: {value}" for name, value in {**HEADERS, **more, "authorization": "Bearer alice"}.items()]
    head = ["POST /mcp HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}", *headers, *lines, "", ""]
    return "\r\n".join(head).encode() + body


@contextmanager
def peer_of(server: HttpServer, room: int | None = None) -> Generator[socket.socket]:
    """Connect to the server; with little room, most of an answer has to wait at the other side."""
    with socket.socket() as peer:
        if room:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        peer.settimeout(30)
        peer.connect(("127.0.0.1", server.port))
        yield peer


def leave_after(server: HttpServer, request: bytes) -> None:
    """Send a request and close the connection at once, all without waiting for the server."""
    with socket.socket() as peer:
        peer.setblocking(False)
        peer.connect_ex(("127.0.0.1", server.port))
        assert peer.send(request) == len(request)


def read(peer: socket.socket) -> bytes:
    """Read one response, in whichever form it comes."""
    told = b""
    while not told.endswith((b"}}}}", b"0\r\n\r\n")) and (piece := peer.recv(65_536)):
        told += piece
    return told


def ended(peer: socket.socket) -> bool:
    """Wait without reading until the other side has ended the connection."""
    with suppress(ConnectionError):
        while True:  # what is sent after the end is answered by a reset
            peer.sendall(b"\r\n")
            time.sleep(0.05)
    return True


async def asked(server: HttpServer, era: Era = "auto", query: str = QUESTION) -> str:
    """Ask as a client of its own, and return what the result says beside the answer."""
    async with server.client("alice", era) as client:
        return str(data_of(await client.call_tool("search", {"query": query})).get("notices", ""))


@ERAS
async def test_a_question_whose_answer_was_read_is_asked_anew(tmp_path: Path, era: Era) -> None:
    provider = FakeProvider()
    async with http_server(tmp_path, provider) as server:
        for number in range(1, 6):
            assert KEPT not in await asked(server, era)
            assert len(provider.requests) == number


@ERAS
@pytest.mark.parametrize("lines", [(), (CLOSE,)])
async def test_an_answer_that_was_left_unread_is_there_for_the_same_call(
    tmp_path: Path, era: Era, lines: tuple[str, ...]
) -> None:
    provider = FakeProvider()
    async with http_server(tmp_path, provider) as server:
        with peer_of(server, room=4_096) as peer:
            await to_thread.run_sync(peer.sendall, call_of(era, *lines))
            assert (await to_thread.run_sync(peer.recv, 12)).startswith(b"HTTP/1.1 200")
            with anyio.fail_after(30):
                while not await _is_answered(server):
                    await anyio.lowlevel.checkpoint()
            assert KEPT in await asked(server, era), "asked while it lies unread"
        assert len(provider.requests) == 1
        assert KEPT not in await asked(server, era), "and now it was read"
        assert len(provider.requests) == 2


async def _is_answered(server: HttpServer) -> bool:
    async with server.client("alice") as client:
        listed = data_of(await client.call_tool("list_conversations", {}))
    return all(each["messageCount"] > 1 for each in listed["conversations"]) and bool(listed["conversations"])


@ERAS
async def test_an_answer_that_comes_after_the_client_has_left_is_there_for_the_same_call(
    tmp_path: Path, era: Era
) -> None:
    release, arrived = anyio.Event(), anyio.Event()
    provider = FakeProvider(held(release, arrived))
    async with http_server(tmp_path, provider) as server:
        with peer_of(server) as peer:
            await to_thread.run_sync(peer.sendall, call_of(era))
            with anyio.fail_after(30):
                await arrived.wait()
        release.set()
        with anyio.fail_after(30):
            while not await _is_answered(server):
                await anyio.lowlevel.checkpoint()
        assert KEPT in await asked(server, era)
        assert len(provider.requests) == 1


@ERAS
async def test_a_client_that_reads_all_and_closes_has_the_answer(tmp_path: Path, era: Era) -> None:
    provider = FakeProvider()
    async with http_server(tmp_path, provider) as server:
        for number, lines in enumerate(((), (CLOSE,), ()), 1):
            with peer_of(server) as peer:
                await to_thread.run_sync(peer.sendall, call_of(era, *lines))
                told = await to_thread.run_sync(read, peer)
                assert KEPT.encode() not in told
            assert len(provider.requests) == number


@ERAS
async def test_a_question_whose_client_left_before_the_server_saw_it_is_not_asked(tmp_path: Path, era: Era) -> None:
    provider = FakeProvider()
    async with http_server(tmp_path, provider) as server:
        await asked(server, era, "Are you there?")
        # Nothing is awaited meanwhile, so the server stands still, as one that is suspended.
        leave_after(server, call_of(era, query="Why?"))
        await asked(server, era, "Are you still there?")
        await asked(server, era, "And now?")
        questions = [request.messages[-1].content for request in provider.requests]
        assert questions == ["Are you there?", "Are you still there?", "And now?"]
        assert KEPT not in await asked(server, era, "Why?")
    assert len(provider.requests) == 4


@ERAS
async def test_a_question_whose_client_left_while_it_waited_for_another_is_not_asked(tmp_path: Path, era: Era) -> None:
    release, arrived = anyio.Event(), anyio.Event()
    provider = FakeProvider(held(release, arrived))
    async with http_server(tmp_path, provider) as server, server.client("alice", era) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "search", {"query": "First?"})
            with anyio.fail_after(30):
                await arrived.wait()
            listed = data_of(await client.call_tool("list_conversations", {}))
            named = {"conversationId": listed["conversations"][0]["conversationId"], "query": "Second?"}
            with peer_of(server) as peer:
                await to_thread.run_sync(peer.sendall, call_of(era, tool="search_followup", **named))
                await to_thread.run_sync(peer.recv, 4_096)
            await asked(server, era, "Are you there?")
            release.set()
        await asked(server, era, "And now?")
    questions = [request.messages[-1].content for request in provider.requests]
    assert questions == ["First?", "Are you there?", "And now?"]


@ERAS
async def test_a_question_of_a_client_that_left_is_asked_for_another_that_asked_the_same(
    tmp_path: Path, era: Era
) -> None:
    provider = FakeProvider()
    async with http_server(tmp_path, provider) as server:
        await asked(server, era, "Are you there?")
        leave_after(server, call_of(era, query="Why?"))
        assert KEPT not in await asked(server, era, "Why?")
    assert len(provider.requests) == 2


async def test_an_answer_that_a_client_does_not_fetch_in_time_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "STALLED_SECONDS", 0.3)
    provider = FakeProvider()
    query = QUESTION * 20
    async with http_server(tmp_path, provider, max_question_chars=len(query), max_result_chars=10**7) as server:
        with peer_of(server, room=4_096) as peer:
            await to_thread.run_sync(peer.sendall, call_of("legacy", query=query))
            with anyio.fail_after(30):
                while not await _is_answered(server):
                    await anyio.lowlevel.checkpoint()
            assert await to_thread.run_sync(ended, peer)
            assert KEPT in await asked(server, query=query)
        assert len(provider.requests) == 1
