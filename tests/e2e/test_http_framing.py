"""Where a request ends is never a matter of opinion: what two readers could take apart differently is refused with 400."""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from tests.fixtures.over_http import HEADERS, ByName, http_server
from tests.fixtures.providers import FakeProvider
from tests.fixtures.proxies import Proxy, caddy, nginx
from tests.fixtures.raw_requests import LIST, all_told, raw

from conversation_mcp.server.http.callers import Denial, HeaderLines, Identity
from conversation_mcp.server.http.serving import Entrance

BODY = json.dumps(LIST).encode()
LENGTH = b"Content-Length: %d" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked"


def message(*lines: bytes, body: bytes = BODY, start: bytes = b"POST /mcp HTTP/1.1", owner: bytes = b"alice") -> bytes:
    """Return a request after which the connection ends."""
    usual = [f"{name}: {value}".encode() for name, value in HEADERS.items()]
    head = (start, b"Host: 127.0.0.1", b"Authorization: Bearer " + owner, b"Connection: close", *usual, *lines)
    return b"\r\n".join((*head, b"", b"")) + body


def chunks(
    extension: bytes = b"", end: bytes = b"\r\n", size: bytes = b"%x" % len(BODY), trailer: bytes = b""
) -> bytes:
    return size + extension + b"\r\n" + BODY + end + b"0\r\n" + trailer + b"\r\n"


FAULTY: Mapping[str, bytes] = {
    "bare LF in all of the head": message(LENGTH, body=b"").replace(b"\r\n", b"\n") + BODY,
    "bare LF between two headers": message(LENGTH, b"X: a\nY: b"),
    "bare LF that hides a length": message(b"X: a\nContent-Length: 0", LENGTH),
    "bare LF at the end of the head": message(LENGTH, body=b"")[:-2] + b"\n" + BODY,
    "bare CR in a header": message(LENGTH, b"X: a\rY: b"),
    "NUL in a header": message(LENGTH, b"X: a\0b"),
    "NUL in the name of a header": message(LENGTH, b"X\0: b"),
    "a control character in a header": message(LENGTH, b"X: a\x01b"),
    "a folded header": message(LENGTH, b"X: a\r\n b"),
    "a folded encoding": message(b"Transfer-Encoding:\r\n chunked", body=chunks()),
    "a folded first header": message(LENGTH).replace(b"Host:", b" X: a\r\nHost:"),
    "a space before the colon": message(b"Content-Length : %d" % len(BODY)),
    "a header without a colon": message(LENGTH, b"No colon at all"),
    "a header without a name": message(LENGTH, b": a"),
    "the same length twice": message(LENGTH, LENGTH.lower()),
    "two lengths": message(LENGTH, b"Content-Length: 3"),
    "a list of lengths": message(LENGTH + b", %d" % len(BODY)),
    "a negative length": message(b"Content-Length: -1"),
    "a length with a sign": message(b"Content-Length: +%d" % len(BODY)),
    "a hexadecimal length": message(b"Content-Length: 0x10"),
    "a length before an encoding": message(LENGTH, CHUNKED, body=chunks()),
    "an encoding before a length": message(CHUNKED, LENGTH, body=chunks()),
    "two encodings": message(CHUNKED, b"Transfer-Encoding: identity", body=chunks()),
    "a list of encodings": message(b"Transfer-Encoding: gzip, chunked", body=chunks()),
    "an unknown encoding": message(b"Transfer-Encoding: xchunked", body=chunks()),
    "an encoding after a strange space": message(b"Transfer-Encoding: \x0bchunked", body=chunks()),
    "an encoding in an older version": message(CHUNKED, body=chunks(), start=b"POST /mcp HTTP/1.0"),
    "bare LF in an extension of a chunk": message(CHUNKED, body=chunks(b";\n")),
    "bare CR in an extension of a chunk": message(CHUNKED, body=chunks(b";a\rb")),
    "bare LF in a trailer": message(CHUNKED, body=chunks(trailer=b"X: a\nY: b\r\n")),
    "a chunk that is longer than its size": message(CHUNKED, body=chunks(end=b"XX\r\n")),
    "a size of a chunk with a prefix": message(CHUNKED, body=chunks(size=b"0x%x" % len(BODY))),
    "a size of a chunk with a sign": message(CHUNKED, body=chunks(size=b"+%x" % len(BODY))),
    "a whole URL as the target": message(LENGTH, start=b"POST http://127.0.0.1/mcp HTTP/1.1"),
    "another host as the target": message(LENGTH, start=b"POST http://evil.example/mcp HTTP/1.1"),
    "a host and port as the target": message(LENGTH, start=b"CONNECT 127.0.0.1:80 HTTP/1.1"),
    "an asterisk as the target": message(LENGTH, start=b"OPTIONS * HTTP/1.1"),
    "a fragment in the target": message(LENGTH, start=b"POST /mcp#x HTTP/1.1"),
    "a space in the target": message(LENGTH, start=b"POST /mcp x HTTP/1.1"),
    "bytes beyond ASCII in the target": message(LENGTH, start=b"POST /mcp\xe9 HTTP/1.1"),
    "two spaces before the target": message(LENGTH, start=b"POST  /mcp HTTP/1.1"),
    "the version HTTP/2": message(LENGTH, start=b"POST /mcp HTTP/2.0"),
    "the version HTTP/1.2": message(LENGTH, start=b"POST /mcp HTTP/1.2"),
    "no version": b"GET /health\r\n\r\n",
    "a greeting in HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a greeting in TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "more headers than there is room for": message(LENGTH, *(b"X%d: a" % number for number in range(20_000))),
    "a header without end": message(LENGTH, b"X: " + b"x" * 200_000),
}
FINE: Mapping[str, bytes] = {
    "a length": message(LENGTH),
    "chunks": message(CHUNKED, body=chunks()),
    "chunks with an extension": message(CHUNKED, body=chunks(b";a=b")),
    "chunks with a trailer": message(CHUNKED, body=chunks(trailer=b"Authorization: Bearer bob\r\n")),
    "the older version": message(LENGTH, start=b"POST /mcp HTTP/1.0"),
    "thousands of headers": message(LENGTH, *(b"X%d: a" % number for number in range(4_000))),
    "bytes beyond ASCII in a header": message(LENGTH, b"X: \xc3\xa9"),
    "a tab in a header": message(LENGTH, b"X: a\tb"),
    "an offer to speak something else": message(LENGTH, b"Upgrade: h2c"),
}


@pytest.mark.parametrize("data", FAULTY.values(), ids=FAULTY)
async def test_what_could_be_read_in_two_ways_is_refused(
    tmp_path: Path, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with http_server(tmp_path, FakeProvider()) as server:
        told = await to_thread.run_sync(raw, server.port, data)
        assert told.startswith(b"HTTP/1.1 400 "), told
        assert b"connection: close" in told.lower()
        assert (await server.post("alice", LIST)).status_code == 200
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("data", FINE.values(), ids=FINE)
async def test_what_is_unusual_and_plain_is_served(tmp_path: Path, data: bytes) -> None:
    async with http_server(tmp_path, FakeProvider()) as server:
        told = await to_thread.run_sync(raw, server.port, data)
        assert told.startswith(b"HTTP/1.1 200 "), told
        assert b"tools" in told


async def test_a_body_that_goes_wrong_after_its_request_was_refused_is_no_failure_of_the_server(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    begun = message(CHUNKED, body=b"1\r\na\r\n", owner=b"nobody").replace(b"Connection: close\r\n", b"")
    async with http_server(tmp_path, FakeProvider()) as server:
        for rest in (b"zz\r\n\r\n", b"1;a\rb\r\na\r\n", b"0\r\nX: a\n\n"):
            told = await to_thread.run_sync(raw, server.port, begun + rest)
            assert told[9:12] in (b"400", b"401")
    assert not [record for record in caplog.records if record.exc_info]


def asking(owner: bytes) -> bytes:
    """Return a request that asks a provider, if anybody takes it for one."""
    call: dict[str, Any] = {"name": "search", "arguments": {"query": "Was I smuggled?"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()
    return message(b"Content-Length: %d" % len(body), body=body, owner=owner)


INNER = asking(b"mallory")
WHOLE = b"Content-Length: %d" % len(INNER)
ENDED = b"0\r\n\r\n" + INNER
IN_CHUNK = b"%x\r\n" % len(INNER) + INNER + b"\r\n0\r\n\r\n"
SMUGGLING: Mapping[str, bytes] = {
    "a length beside an end of chunks": message(b"Content-Length: %d" % len(ENDED), CHUNKED, body=ENDED),
    "a length beside a chunk": message(b"Content-Length: 0", CHUNKED, body=IN_CHUNK),
    "a length inside a chunk": message(b"Content-Length: %d" % (len(b"%x" % len(INNER)) + 2), CHUNKED, body=IN_CHUNK),
    "a length of nothing first": message(b"Content-Length: 0", WHOLE, body=INNER),
    "a length of nothing last": message(WHOLE, b"Content-Length: 0", body=INNER),
    "a length behind a bare LF": message(b"X: a\nContent-Length: 0", WHOLE, body=INNER),
    "a length behind a bare CR": message(b"X: a\rContent-Length: 0", WHOLE, body=INNER),
    "an end of the head in bare LF": message(WHOLE, b"X: a\n\n" + INNER, body=INNER),
    "an encoding behind a space": message(b"Transfer-Encoding : chunked", WHOLE, body=ENDED),
    "an encoding behind a fold": message(b"Transfer-Encoding:\r\n chunked", WHOLE, body=ENDED),
    "an encoding behind a strange space": message(b"Transfer-Encoding: \x0bchunked", WHOLE, body=ENDED),
    "an encoding in quotes": message(b'Transfer-Encoding: "chunked"', WHOLE, body=ENDED),
    "an encoding with an underscore": message(b"Transfer_Encoding: chunked", WHOLE, body=INNER),
    "an encoding in an older version": message(CHUNKED, WHOLE, body=ENDED, start=b"POST /mcp HTTP/1.0"),
    "an extension with a bare LF": message(CHUNKED, body=b"1;\nx\r\na\r\n" + ENDED),
    "a trailer with a bare LF": message(CHUNKED, body=b"0\r\nX: a\n\n" + INNER + b"\r\n\r\n"),
    "a size that overflows": message(CHUNKED, body=b"10000000000000000\r\n" + INNER),
    "a body where none is read": message(WHOLE, body=INNER, start=b"GET /mcp HTTP/1.1"),
    "a body of who is refused": message(WHOLE, body=INNER, owner=b"nobody"),
    "a body that waits to be asked for": message(WHOLE, b"Expect: 100-continue", body=INNER, owner=b"nobody"),
}


LAST = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
SILENT_SECONDS = 1
"""After that a request counts as one that is still waited for; this ends the wait, and decides nothing."""


class Door(ByName):
    """Counts the requests that no proxy has seen as such: it would have said for whom it passes them on."""

    def __init__(self) -> None:
        self.unseen = 0

    async def identify(self, headers: HeaderLines, address: str) -> Identity | Denial:
        lines = dict(headers)
        self.unseen += b"mallory" in lines[b"authorization"] and b"x-forwarded-for" not in lines
        return await super().identify(headers, address)


@pytest.mark.slow
@pytest.mark.parametrize("before", [nginx, caddy, None], ids=["nginx", "Caddy", "nothing"])
async def test_no_request_gets_in_inside_of_another(tmp_path: Path, before: Proxy | None) -> None:
    provider, door = FakeProvider(), Door()
    (tmp_path / "proxy").mkdir()
    async with http_server(tmp_path, provider, open_entrance=lambda _: Entrance(door)) as server:
        running = before(server.port, tmp_path / "proxy") if before else nullcontext(server.port)
        port = await to_thread.run_sync(running.__enter__)
        try:
            for name, data in SMUGGLING.items():
                begun = data.replace(b"Connection: close\r\n", b"", 1)
                await to_thread.run_sync(all_told, port, begun + LAST, SILENT_SECONDS)
                assert not door.unseen, name
                told = await to_thread.run_sync(raw, port, b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                assert told.endswith(b"\r\n\r\nalive"), name
            asked = len(provider.requests)
            await to_thread.run_sync(all_told, port, asking(b"mallory"), 30)
            assert len(provider.requests) == asked + 1  # as itself it gets in
            assert door.unseen == (0 if before else 1)
        finally:
            await to_thread.run_sync(running.__exit__, None, None, None)
