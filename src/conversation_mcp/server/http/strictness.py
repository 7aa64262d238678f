"""Requests that a proxy and this server could read differently are refused before anything is made of them."""

import asyncio
import re
from typing import Any, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import RequestResponseCycle
from uvicorn.server import ServerState

from conversation_mcp.server.http.connections import BoundedConnection

VERSIONS = (b"1.0", b"1.1")
BARE = "a line must end with CRLF", re.compile(rb"(?<!\r)\n|\r(?!\n)")
FAULTS = (
    BARE,
    ("a header must stand on one line", re.compile(rb"\n[ \t]")),
    ("control characters must not be in a header", re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")),
    ("a body must have one length", re.compile(rb"^content-length:[^\n]*,", re.IGNORECASE | re.MULTILINE)),
    (
        "a body must have one length",
        re.compile(rb"^content-length:.*^content-length:", re.IGNORECASE | re.MULTILINE | re.DOTALL),
    ),
)
"""What the parser puts right in the head of a request without a word."""


class StrictReader(h11.Connection):
    """Reads requests, and takes none that is put together in more than one way."""

    fault: str | None = None
    """What is wrong with the request that was refused last."""
    _read = b""
    """What was read since the last event: the size of a chunk may come long before the chunk."""

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return the next event; raise RemoteProtocolError if the request is to be refused."""
        before = self.trailing_data[0]
        event = super().next_event()
        self._read += before[: len(before) - len(self.trailing_data[0])]
        if event is h11.NEED_DATA:
            return event
        read, self._read = self._read, b""
        self.fault = _fault_of(event, read)
        if self.fault:
            raise h11.RemoteProtocolError(self.fault)
        return event


def _fault_of(event: object, read: bytes) -> str | None:
    """Return what is wrong with an event, which was read from these bytes."""
    match event:
        case h11.Request():
            return _fault_of_head(event) or next((fault for fault, form in FAULTS if form.search(read)), None)
        case h11.Data():
            return BARE[0] if BARE[1].search(read[: len(read) - len(event.data)]) else None
        case h11.EndOfMessage():
            return BARE[0] if BARE[1].search(read) else None
        case _:
            return None


def _fault_of_head(request: h11.Request) -> str | None:
    if request.http_version not in VERSIONS:
        return "the version must be HTTP/1.1 or HTTP/1.0"
    if not request.target.startswith(b"/") or b"#" in request.target:
        return "the target must be a path"
    if request.http_version == b"1.0" and any(name == b"transfer-encoding" for name, _ in request.headers):
        return "transfer-encoding needs HTTP/1.1"
    return None


class StrictConnection(BoundedConnection):
    """Answers a request that is refused with 400 and what is wrong with it, and ends."""

    conn: StrictReader

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Prepare a connection."""
        super().__init__(config, server_state, app_state, _loop)
        self.conn = StrictReader(h11.SERVER, config.h11_max_incomplete_event_size or 0)

    def send_400_response(self, msg: str) -> None:
        """Refuse the request, whatever is being done for it; where its answer has begun, end the connection instead."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(f"{msg} {self.conn.fault or ''}".strip())
        else:
            self.transport.close()
        cycle = cast("RequestResponseCycle | None", self.cycle)  # None before the first request
        if cycle is not None:
            cycle.disconnected = True
            cycle.message_event.set()
