"""What `doctor --url` finds out about a running server from outside."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path

import anyio
import pytest
from inline_snapshot import snapshot
from tests.fixtures.over_http import http_server

from conversation_mcp.cli.checks.remote import check_remote
from conversation_mcp.records.findings import Finding

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module", autouse=True)
def loaded_client() -> None:
    """Load what the SDK's client imports late, because importing reads files, which no loop of a server may do."""
    import_module("httpcore2")


async def found(url: str, token: str | None = None) -> list[Finding]:
    return [finding async for finding in check_remote(url, token)]


@asynccontextmanager
async def answering(*lines: str) -> AsyncGenerator[str]:
    """Answer each request with these header lines until the block ends."""
    answer = ("\r\n".join((*lines, "content-length: 0", "connection: close")) + "\r\n\r\n").encode()

    async def handle(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(answer)

    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port) as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, handle)
        yield f"http://127.0.0.1:{port}/mcp"
        tasks.cancel_scope.cancel()


async def test_a_server_in_order_is_visited_in_both_eras(tmp_path: Path) -> None:
    async with http_server(tmp_path) as server:
        findings = await found(server.url, "alice")
    assert {finding.state for finding in findings} == {"ok"}, findings
    assert [finding.text.replace(server.url, "URL").rpartition(", ")[0] for finding in findings[-2:]] == snapshot(
        [
            "protocol 2026-07-28: 6 tools, list_conversations answers",
            "protocol 2025-11-25: 6 tools, list_conversations answers",
        ]
    )


async def test_the_token_is_asked_for_and_looked_at_before_anything_else(tmp_path: Path) -> None:
    async with http_server(tmp_path) as server:
        assert [(await found(server.url, token))[-1].line() for token in (None, "nobody", "no token")] == snapshot(
            [
                "  fail  CONVERSATION_MCP_TOKEN is not set: put the token into it, as token add printed it",
                "  fail  it refuses the token of CONVERSATION_MCP_TOKEN: unknown, revoked, expired or for another server",
                "  fail  CONVERSATION_MCP_TOKEN is no token: it has characters that none has",
            ]
        )


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ("404 Not Found", "there is no MCP server at this path"),
        ("421 Misdirected", "start it with --allowed-host"),
        ("502 Bad Gateway", "a proxy answers (502), and the server behind it does not"),
        ("418 Teapot", "it answers 418, which no MCP server does"),
        ("308 Moved\r\nlocation: https://other.example.com/mcp", "it sends clients to another URL (308)"),
    ],
)
async def test_a_refusal_says_what_to_change(status: str, why: str) -> None:
    async with answering(f"HTTP/1.1 {status}") as url:
        finding = (await found(url, "alice"))[-1]
    assert finding.state == "fail"
    assert why in finding.text


async def test_a_server_that_takes_the_token_and_speaks_no_mcp_fails_in_both_eras() -> None:
    async with answering("HTTP/1.1 200 OK") as url:
        findings = await found(url, "alice")
    assert [finding.state for finding in findings] == ["ok", "ok", "fail", "fail"]


async def test_nobody_there_is_said_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    [finding] = await found(f"http://127.0.0.1:{port}/mcp")
    assert finding.state == "fail"
    assert "cannot be reached" in finding.text


async def test_a_server_without_tls_where_tls_is_expected_cannot_be_reached(tmp_path: Path) -> None:
    async with http_server(tmp_path) as server:
        [finding] = await found(server.url.replace("http:", "https:"), "alice")
    assert "cannot be reached" in finding.text
