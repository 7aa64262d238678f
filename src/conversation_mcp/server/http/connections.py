"""A connection that cannot be held by a client that sends or reads too slowly, or is gone without a word."""

import asyncio
import socket
from contextlib import suppress
from typing import cast

from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from conversation_mcp.server.http.receipts import CONNECTION
from conversation_mcp.server.wire import unread_bytes

MOST_CONNECTIONS = 2_000
"""Requests over a further connection are refused; those over the connections that were there before are served."""
HEAD_SECONDS = 15.0
"""How long the head of a request may take, and a connection that brings none may stay."""
STALLED_SECONDS = 30.0
"""How long a client may leave unread what it was sent."""
END_OF_BODY = b"0\r\n\r\n"
"""Comes after the answer in a stream; some clients close the connection before they have read it."""


class BoundedConnection(H11Protocol):
    """Closes a connection whose request does not come, and aborts one whose response is not read.

    Requests find it in their scope, to learn what of their responses has arrived.
    """

    most_connections = MOST_CONNECTIONS
    is_lost = False
    _head_timer: asyncio.TimerHandle | None = None
    _stall_timer: asyncio.TimerHandle | None = None
    _rest: socket.socket | None = None
    """The socket of a connection closed here, until the other end has what was sent."""
    _lost_at = 0.0
    _awaited_count = 0
    _was_left_unread = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a request."""
        super().connection_made(transport)
        served = self.app

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            scope[CONNECTION] = self
            await served(scope, receive, send)

        self.app = app if len(self.connections) <= self.most_connections else _refuse
        _prepare(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Take the data; the head of a request must be complete within its time."""
        super().data_received(data)
        if self._is_answering():
            self._head_timer = _cancelled(self._head_timer)
        else:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timers, and keep in mind whether all that was sent has arrived."""
        if self.unread_bytes():
            if exc is None and self._awaited_count:
                self._linger()
            else:
                self._was_left_unread = True
        self.is_lost = True
        self._head_timer = _cancelled(self._head_timer)
        self._stall_timer = _cancelled(self._stall_timer)
        super().connection_lost(exc)

    def unread_bytes(self) -> int | None:
        """Return how many bytes were sent that the other end has not acknowledged; None if it never will."""
        peer: socket.socket | None = self._rest if self.is_lost else self.transport.get_extra_info("socket")
        if self._was_left_unread or peer is None:
            return None if self._was_left_unread else 0
        if self._rest and (self._is_late() or peer.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)):
            self._was_left_unread = True
            return None
        unread = self.transport.get_write_buffer_size() + unread_bytes(peer.fileno())
        return 0 if unread <= len(END_OF_BODY) else unread

    def await_arrival(self) -> None:
        """Keep in mind what was left unread when the connection is gone."""
        self._awaited_count += 1

    def forget_arrival(self) -> None:
        """End what `await_arrival` began."""
        self._awaited_count -= 1
        if self._rest and not self._awaited_count:
            self._rest.close()

    def pause_writing(self) -> None:
        """Give the client some time to read."""
        super().pause_writing()
        self._stall_timer = _cancelled(self._stall_timer)
        self._stall_timer = self.loop.call_later(STALLED_SECONDS, self._abort)

    def resume_writing(self) -> None:
        """Go on: the client reads."""
        self._stall_timer = _cancelled(self._stall_timer)
        super().resume_writing()

    def _expect_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._end_without_head)

    def _end_without_head(self) -> None:
        self._head_timer = None
        if not self._is_answering():
            self._abort()

    def _abort(self) -> None:
        self._was_left_unread = bool(self.unread_bytes())  # what is in this process is dropped
        self.transport.abort()

    def _linger(self) -> None:
        """Keep the socket of a connection that ends here: once it is closed, nothing tells what arrived."""
        peer = self.transport.get_extra_info("socket")
        self._lost_at = self.loop.time()
        self._rest = rest = peer.dup()
        with suppress(OSError):
            rest.shutdown(socket.SHUT_WR)

    def _is_late(self) -> bool:
        return self.loop.time() > self._lost_at + STALLED_SECONDS

    def _is_answering(self) -> bool:
        cycle = cast("object", self.cycle)  # None before the first request, whatever its type says
        return cycle is not None and not self.cycle.response_complete


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    headers = {"retry-after": "5", "connection": "close"}
    await PlainTextResponse("Too many connections", 503, headers)(scope, receive, send)


def _cancelled(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def _prepare(transport: asyncio.Transport) -> None:
    """Have the system send at once, and end connections whose other end does not acknowledge, even closed ones."""
    peer = transport.get_extra_info("socket")
    if peer is None:
        return
    with suppress(OSError):
        # The event loop leaves this to whoever made the listening socket; without it, the second part of each response
        # waits until the first one is acknowledged, for 40 ms.
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if hasattr(socket, "TCP_KEEPIDLE"):
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, int(STALLED_SECONDS))
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(STALLED_SECONDS * 1_000))
