"""Clients that read nothing of what they are sent: they hold little, nobody else waits for them, and they are dropped."""

import json
import socket
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.fixtures.over_http import http_server
from tests.fixtures.providers import FakeProvider
from tests.fixtures.raw_requests import LIST, request
from tests.fixtures.serving import data_of
from tests.fixtures.wire_calls import NEW_ERA

from conversation_mcp.server.http import connections, room
from conversation_mcp.server.http.serving import UNSENT_BYTES

MANY = 200
TCP = Path("/proc/net/tcp")
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": NEW_ERA,
    "io.modelcontextprotocol/clientCapabilities": {},
}


@contextmanager
def deaf(port: int, data: bytes) -> Generator[None]:
    """Send a request and read nothing of what comes."""
    with socket.socket() as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        peer.connect(("127.0.0.1", port))
        peer.sendall(data)
        yield


def listening(port: int, conversation_id: str, request_id: str) -> bytes:
    """Return a request to hear of a conversation; each notice repeats its id."""
    wanted: dict[str, Any] = {
        "resourcesListChanged": True,
        "resourceSubscriptions": [f"conversation://{conversation_id}"],
    }
    params = {"notifications": wanted, "_meta": META}
    body = {"jsonrpc": "2.0", "id": request_id, "method": "subscriptions/listen", "params": params}
    lines = (f"mcp-protocol-version: {NEW_ERA}", "mcp-method: subscriptions/listen")
    return request(port, *lines, body=json.dumps(body).encode())


def unsent_bytes(port: int) -> list[int]:
    """Return what the system holds for each connection of the server, in bytes."""
    lines = [line.split() for line in TCP.read_text().splitlines()[1:]]
    return [int(line[4].partition(":")[0], 16) for line in lines if int(line[1].partition(":")[2], 16) == port]


@pytest.mark.slow
@pytest.mark.skipif(not TCP.exists(), reason="only Linux tells what the system holds for a connection")
async def test_listeners_that_never_read_hold_little_and_are_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(connections, "STALLED_SECONDS", 2.0)
    async with (
        http_server(tmp_path, FakeProvider(), tools=("research", "manage")) as server,
        server.client("alice") as client,
    ):
        started = data_of(await client.call_tool("search", {"query": "Why?"}))["conversationId"]
        held, ended, number = [0], 0, 0
        with ExitStack() as stack, anyio.fail_after(100):
            for _ in range(MANY):
                stack.enter_context(deaf(server.port, listening(server.port, started, "x" * 60_000)))
            while ended < MANY:
                number += 1
                news = {"conversationId": started, "query": f"How, {number}?"}
                data_of(await client.call_tool("search_followup", news))
                held += unsent_bytes(server.port)
                ended += capsys.readouterr().err.count("method=subscriptions/listen")
    # One event is given to the system whole; beside it there may be what already was on the way.
    assert max(held) <= 4 * UNSENT_BYTES


async def test_large_answers_that_are_not_read_are_bounded_and_of_one_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room.Room.__init__, "__defaults__", (30_000_000, 9_000_000))
    async with http_server(tmp_path, FakeProvider(), tools=("research", "manage")) as server:
        bodies: dict[str, bytes] = {}
        for owner in ("alice", "bob"):
            async with server.client(owner) as client:
                started = data_of(await client.call_tool("search", {"query": "x" * 400_000}))["conversationId"]
                for _ in range(2):
                    more = {"conversationId": started, "query": "y" * 400_000}
                    data_of(await client.call_tool("search_followup", more))
            call = {"name": "export_conversation", "arguments": {"conversationId": started, "format": "json"}}
            bodies[owner] = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()
        with ExitStack() as stack, anyio.fail_after(60):
            while "Too many answers" not in (told := (await server.post("alice", bodies["alice"])).text):
                assert "yyyy" in told
                stack.enter_context(deaf(server.port, request(server.port, body=bodies["alice"])))
            assert "yyyy" in (await server.post("bob", bodies["bob"])).text
            assert (await server.post("alice", LIST)).status_code == 200
        with anyio.fail_after(60):
            while "yyyy" not in (await server.post("alice", bodies["alice"])).text:
                await anyio.lowlevel.checkpoint()
