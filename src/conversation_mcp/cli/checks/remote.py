"""The checks of a running server from outside: its TLS, its door, and a round trip in both eras of the protocol."""

import ssl
import time
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, cast
from urllib.parse import urlsplit

import anyio

from conversation_mcp.cli.clients.remote import TOKEN_VARIABLE
from conversation_mcp.clock import utc_now
from conversation_mcp.errors.groups import single
from conversation_mcp.logs import redact
from conversation_mcp.records.findings import Finding
from conversation_mcp.text import counted

if TYPE_CHECKING:
    import httpx

MODES: tuple[Literal["auto", "legacy"], ...] = ("auto", "legacy")
ROUND_TRIP = "list_conversations"
ANSWER_SECONDS = 30
FEW_DAYS = 14
LOOPBACK = ("localhost", "127.0.0.1", "::1")
HEADERS = {"accept": "application/json, text/event-stream"}
REQUEST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "conversation-mcp-doctor", "version": "1"},
    },
}
REFUSALS = {
    403: "it refuses the request (403): a proxy or a firewall in front of it decides so",
    404: "there is no MCP server at this path (404): the path is that of serve --path, /mcp by default",
    405: "there is no MCP server at this path (405): the path is that of serve --path, /mcp by default",
    421: "it does not know this name (421): start it with --allowed-host and the name",
    429: "it has seen too many wrong tokens from this address (429): wait a minute",
}
NOT_RUNNING = (502, 503, 504)


class _Visit(NamedTuple):
    """How a request was received."""

    status: int
    location: str
    days_left: int | None


async def check_remote(url: str, token: str | None) -> AsyncIterator[Finding]:
    """Yield what a client finds at the URL; ends at the first thing without which the rest would fail."""
    is_local = urlsplit(url).hostname in LOOPBACK
    try:
        visit = await _visit(url, None)
    except Exception as error:  # noqa: BLE001 -- whatever breaks is what the doctor is asked for
        yield Finding("fail", f"{url} cannot be reached: {_reason(error)}")
        return
    yield _about_tls(url, visit, is_local=is_local)
    if visit.status == 200:  # noqa: PLR2004 -- the codes are those of HTTP
        yield Finding("ok" if is_local else "fail", "it lets everybody in without a token")
    elif visit.status == 401:  # noqa: PLR2004
        yield Finding("ok", "without a token it lets nobody in")
        known = await _about_token(url, token)
        yield known
        if known.state == "fail":
            return
    else:
        yield Finding("fail", _refusal(visit))
        return
    for mode in MODES:
        yield await _round_trip(url, token, mode)


async def _visit(url: str, token: str | None) -> _Visit:
    import httpx

    headers = {**HEADERS, "authorization": f"Bearer {token}"} if token else HEADERS
    async with (
        httpx.AsyncClient(timeout=ANSWER_SECONDS, verify=ssl.create_default_context()) as client,
        # Only the head is read: the body may be a stream that stays open.
        client.stream("POST", url, json=REQUEST, headers=headers) as response,
    ):
        return _Visit(response.status_code, response.headers.get("location", ""), _days_left(response))


def _days_left(response: "httpx.Response") -> int | None:
    """Return for how many days the certificate is valid, where the system tells."""
    stream = response.extensions["network_stream"]
    secured = stream.get_extra_info("ssl_object")
    certificate = cast("Mapping[str, str]", (secured.getpeercert() if secured is not None else None) or {})
    if "notAfter" not in certificate:
        return None
    return (datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC) - utc_now()).days


def _about_tls(url: str, visit: _Visit, *, is_local: bool) -> Finding:
    if url.startswith("http:"):
        if is_local:
            return Finding("ok", f"{url} answers, without TLS, which this machine does not need")
        return Finding("warn", f"{url} has no TLS: on the way, others can read the token and the answers")
    if visit.days_left is None:
        return Finding("ok", f"{url} answers with a certificate that this machine trusts")
    left = f"a trusted certificate, valid for {counted(visit.days_left, 'more day')}"
    return Finding("warn" if visit.days_left < FEW_DAYS else "ok", f"{url} answers with {left}")


async def _about_token(url: str, token: str | None) -> Finding:
    if not token:
        return Finding("fail", f"{TOKEN_VARIABLE} is not set: put the token into it, as token add printed it")
    if not token.isascii() or not token.isprintable() or " " in token:
        return Finding("fail", f"{TOKEN_VARIABLE} is no token: it has characters that none has")
    visit = await _visit(url, token)
    if visit.status == 200:  # noqa: PLR2004
        return Finding("ok", f"it takes the token of {TOKEN_VARIABLE}")
    if visit.status == 401:  # noqa: PLR2004
        return Finding(
            "fail", f"it refuses the token of {TOKEN_VARIABLE}: unknown, revoked, expired or for another server"
        )
    return Finding("fail", _refusal(visit))


def _refusal(visit: _Visit) -> str:
    if visit.location:
        return f"it sends clients to another URL ({visit.status}), which they may not follow: {redact(visit.location)}"
    if visit.status in NOT_RUNNING:
        return f"a proxy answers ({visit.status}), and the server behind it does not"
    return REFUSALS.get(visit.status, f"it answers {visit.status}, which no MCP server does")


async def _round_trip(url: str, token: str | None, mode: Literal["auto", "legacy"]) -> Finding:
    """List the tools and the conversations as a client of that era."""
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    headers = {"authorization": f"Bearer {token}"} if token else None
    started = time.perf_counter()
    try:
        with anyio.fail_after(ANSWER_SECONDS):
            async with (
                create_mcp_http_client(headers=headers) as http,
                Client(streamable_http_client(url, http_client=http), mode=mode) as client,
            ):
                era = client.protocol_version
                names = [tool.name for tool in (await client.list_tools()).tools]
                has_list = ROUND_TRIP in names
                failed = has_list and (await client.call_tool(ROUND_TRIP, {"limit": 1})).is_error
    except Exception as error:  # noqa: BLE001
        return Finding("fail", f"{'the new era' if mode == 'auto' else 'the legacy era'}: {_reason(single(error))}")
    seconds = time.perf_counter() - started
    if failed:
        return Finding("fail", f"protocol {era}: {counted(len(names), 'tool')}, but {ROUND_TRIP} fails")
    done = f"{ROUND_TRIP} answers" if has_list else f"it has no {ROUND_TRIP} to try"
    return Finding(
        "ok" if has_list else "warn", f"protocol {era}: {counted(len(names), 'tool')}, {done}, {seconds:.1f} s"
    )


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError) or type(error).__name__.endswith("Timeout"):
        return f"it was silent for {ANSWER_SECONDS} s"
    return redact(str(error)) or type(error).__name__
