"""What a server over HTTP refuses before any code of the protocol sees it, and what it does not wait for."""

import json
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from tests.fixtures.over_http import HttpServer, http_server
from tests.fixtures.providers import FakeProvider
from tests.fixtures.raw_requests import LIST, raw, request
from tests.fixtures.serving import data_of

from conversation_mcp.server.http import bodies, connections, room
from conversation_mcp.server.http.front import MAX_BODY_BYTES
from conversation_mcp.server.http.options import HttpOptions


async def status(server: HttpServer, data: bytes) -> int:
    told = await to_thread.run_sync(raw, server.port, data)
    return int(told.split(b" ")[1]) if told else 0


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": "evil.example:80@127.0.0.1"}, 400),
        ({"host": "127.0.0.1:evil.example"}, 400),
        ({"host": "127.0.0.1:80, evil.example"}, 400),
        ({"host": "127.0.0.1:80:evil.example"}, 400),
        ({"host": "[::1].evil.example"}, 400),
        ({"host": "[::1]:8765"}, 200),
        ({"origin": "http://127.0.0.1:80.evil.example"}, 400),
        ({"origin": "http://127.0.0.1:80@evil.example"}, 400),
        ({"origin": "http://localhost:3000/evil"}, 400),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1.evil.example"}, 403),
        ({"origin": "http://localhost:3000"}, 200),
        ({"content-type": "text/plain"}, 400),
        ({"content-type": "application/x-www-form-urlencoded"}, 400),
        ({"accept": "text/html"}, 406),
        ({"authorization": "Bearer nobody"}, 401),
        ({"authorization": "Basic YWxpY2U6"}, 401),
        ({}, 200),
    ],
)
async def test_host_origin_content_type_and_caller_are_checked(
    tmp_path: Path, headers: Mapping[str, str], expected: int
) -> None:
    async with http_server(tmp_path, FakeProvider()) as server:
        assert (await server.post("alice", LIST, **headers)).status_code == expected


async def test_named_hosts_and_origins_are_accepted(tmp_path: Path) -> None:
    options = HttpOptions(allowed_hosts=("mcp.example.com",), allowed_origins=("https://app.example.com",))
    async with http_server(tmp_path, FakeProvider(), options=options) as server:
        for host in ("mcp.example.com", "mcp.example.com:443", "127.0.0.1"):
            answer = await server.post("alice", LIST, host=host, origin="https://app.example.com")
            assert answer.status_code == 200
        assert (await server.post("alice", LIST, origin="https://app.example.com.evil")).status_code == 403


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "TRACE", "HEAD"])
async def test_only_posts_are_served(tmp_path: Path, method: str) -> None:
    async with http_server(tmp_path, FakeProvider()) as server:
        assert await status(server, request(server.port, method=method)) == 405


@pytest.mark.parametrize(
    "path", ["/", "/mcp/", "//mcp", "/MCP", "/mcp/..", "/mcp%2f", "/mcp/../health/x", "/.well-known/x", "/metrics"]
)
async def test_no_other_path_is_served(tmp_path: Path, path: str) -> None:
    async with http_server(tmp_path, FakeProvider()) as server:
        assert await status(server, request(server.port, path=path, body=json.dumps(LIST).encode())) == 404


@pytest.mark.parametrize(
    "lines",
    [
        ("Authorization: Bearer bob",),
        ("Host: evil.example",),
        ("Origin: http://127.0.0.1", "Origin: https://evil.example"),
        ("MCP-Protocol-Version: 2025-11-25", "MCP-Protocol-Version: 2026-07-28"),
        ("Mcp-Method: a", "mcp-method: b"),
        ("Mcp-Name: a", "mcp-name: b"),
        ("Mcp-Session-Id: a", "mcp-session-id: b"),
        ("Content-Type: application/json", "content-type: application/json"),
    ],
)
async def test_what_only_one_header_may_say_is_refused_if_two_say_it(tmp_path: Path, lines: tuple[str, ...]) -> None:
    async with http_server(tmp_path, FakeProvider()) as server:
        body = json.dumps(LIST).encode()
        told = await to_thread.run_sync(raw, server.port, request(server.port, *lines, body=body))
        assert told.startswith(b"HTTP/1.1 400 ")
        assert b"must come only once" in told or b"Invalid HTTP request" in told  # of hosts, the parser knows that
        assert (await server.post("alice", LIST)).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"jsonrpc": "2.0"}',
        b'[{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]',
        b'{"jsonrpc": "2.0", "id": {}, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": 1e999, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "x": ' + b"9" * 10_000 + b"}",
        b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}',
    ],
)
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
async def test_a_malformed_body_is_an_answer_and_ends_nothing(tmp_path: Path, body: bytes, version: str) -> None:
    async with http_server(tmp_path, FakeProvider()) as server:
        answer = await server.post("alice", body, **{"mcp-protocol-version": version})
        assert answer.status_code < 500
        assert str(tmp_path) not in answer.text
        assert (await server.post("alice", LIST)).status_code == 200


async def test_a_body_that_is_too_large_is_refused_declared_or_not(tmp_path: Path) -> None:
    async with http_server(tmp_path, FakeProvider()) as server:
        for length in (MAX_BODY_BYTES + 1, 10**19):
            assert await status(server, request(server.port, f"Content-Length: {length}")) == 413
        chunk = b"%x\r\n" % MAX_BODY_BYTES + b" " * MAX_BODY_BYTES + b"\r\n"
        endless = request(server.port, "Transfer-Encoding: chunked") + chunk + b"1\r\n \r\n0\r\n\r\n"
        assert await status(server, endless) == 413


async def test_a_slow_body_and_a_head_that_does_not_end_are_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(bodies.read_body, "__defaults__", (0.3,))
    async with http_server(tmp_path, FakeProvider()) as server:
        assert await status(server, request(server.port, "Content-Length: 10", body=b"{")) == 408
        for beginning in (b"", b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "):
            assert await to_thread.run_sync(raw, server.port, beginning) == b""


async def test_bodies_that_are_never_finished_leave_room_for_others_and_for_what_is_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room.Room.__init__, "__defaults__", (500_000, 250_000))
    large = json.dumps(LIST).encode().ljust(200_000)
    async with http_server(tmp_path, FakeProvider()) as server:
        begun = request(server.port, "Content-Length: 200001", body=large)
        async with await anyio.connect_tcp("127.0.0.1", server.port) as peer:
            await peer.send(begun)
            with anyio.fail_after(30):
                while (await server.post("alice", large)).status_code != 503:
                    await anyio.lowlevel.checkpoint()
            assert (await server.post("alice", LIST)).status_code == 200
            assert (await server.post("bob", large)).status_code == 200
            async with await anyio.connect_tcp("127.0.0.1", server.port) as other:
                await other.send(begun.replace(b"Bearer alice", b"Bearer carol"))
                with anyio.fail_after(30):
                    while (await server.post("bob", large)).status_code != 503:
                        await anyio.lowlevel.checkpoint()
        with anyio.fail_after(30):
            while (await server.post("alice", large)).status_code != 200:
                await anyio.lowlevel.checkpoint()


async def test_who_does_not_read_loses_the_connection_and_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "STALLED_SECONDS", 0.5)
    async with http_server(tmp_path, FakeProvider(), tools=("research", "manage")) as server:
        async with server.client("alice") as client:
            started = data_of(await client.call_tool("search", {"query": "x" * 400_000}))["conversationId"]
        call = {"name": "export_conversation", "arguments": {"conversationId": started, "format": "json"}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()
        many = request(server.port, body=body) * 40
        await to_thread.run_sync(partial(unread, server.port, many))
        assert (await server.post("alice", LIST)).status_code == 200


def unread(port: int, data: bytes) -> None:
    """Ask for much and read nothing, until the other side ends the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        peer.sendall(data)
        with suppress(ConnectionError):
            while True:  # what is sent after the end is answered by a reset
                peer.sendall(b"\r\n")
                time.sleep(0.05)


async def test_alive_and_ready_are_told_to_everybody(tmp_path: Path) -> None:
    async with http_server(tmp_path, FakeProvider()) as server:
        for path in ("/health", "/ready"):
            told = await to_thread.run_sync(raw, server.port, f"GET {path} HTTP/1.1\r\nHost: pod\r\n\r\n".encode())
            assert told.startswith(b"HTTP/1.1 200")
            assert await status(server, request(server.port, path=path)) == 405


async def test_a_store_that_cannot_be_used_is_not_ready_and_its_owner_learns_no_path(tmp_path: Path) -> None:
    (tmp_path / "conversation-logs").write_text("not a folder")
    async with http_server(tmp_path, FakeProvider()) as server:
        told = await to_thread.run_sync(raw, server.port, b"GET /ready HTTP/1.1\r\nHost: pod\r\n\r\n")
        assert told.startswith(b"HTTP/1.1 503")
        call: dict[str, Any] = {"name": "search", "arguments": {"query": "Why?"}}
        answer = await server.post("alice", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        assert str(tmp_path) not in answer.text
        await anyio.lowlevel.checkpoint()
