"""Receipts: a result over HTTP counts as delivered once the other end has acknowledged it, not once it is made."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol, cast

import anyio
import anyio.lowlevel
from mcp.server.context import ServerRequestContext
from starlette.types import Message, Scope

from conversation_mcp.server.delivery import pauses
from conversation_mcp.turns.ask import Note

CONNECTION = "conversation_mcp.connection"
"""The field of a request's scope in which a connection makes itself known."""
RECEIPT = "conversation_mcp.receipt"
"""The field in which the front keeps the receipt of the request."""
LOOKS = 3
"""How often the event loop has to go round to read the end of a connection, close it, and say so."""
ANSWER_MARKS = (b'"result":', b'"error":')
"""No notification has such a key, and in its texts the quotes are escaped."""


class Peer(Protocol):
    """The connection that a request came over."""

    @property
    def is_lost(self) -> bool:
        """Whether nothing can be sent any more."""
        ...

    def unread_bytes(self) -> int | None:
        """Return how much of what was sent is not acknowledged; None if the rest never will be."""
        ...

    def await_arrival(self) -> None:
        """Be asked for the unread bytes until `forget_arrival`, also when the connection is gone."""
        ...

    def forget_arrival(self) -> None:
        """End what `await_arrival` began."""
        ...


class Receipt:
    """What is to be noted once the answer to one request has arrived."""

    def __init__(self, owner: str, peer: Peer | None, written: "set[Receipt]") -> None:
        self.owner = owner
        self._peer = peer
        self._written = written
        self._notes: list[Note] = []
        self._looking = anyio.Lock()

    async def is_gone(self) -> bool:
        """Tell whether the connection of the request is lost."""
        for _ in range(LOOKS):
            await anyio.lowlevel.checkpoint()
        return self._peer is not None and self._peer.is_lost

    async def owe(self, note: Note) -> None:
        """Keep a note to write once the client has the answer."""
        self._notes.append(note)

    def sent(self, message: Message) -> None:
        """Record that a part of the response was given to the connection."""
        if not self._notes or message["type"] != "http.response.body":
            return
        # A client may close the connection as soon as it has the answer, and never let the response end.
        body: bytes = message.get("body", b"")
        is_answer = not message.get("more_body", False) or any(mark in body for mark in ANSWER_MARKS)
        if is_answer and self not in self._written and not (self._peer and self._peer.is_lost):
            self._written.add(self)
            if self._peer:
                self._peer.await_arrival()

    async def look(self) -> bool:
        """Write the notes if the answer has arrived; tell whether there is nothing more to wait for."""
        # One at a time, and a note is dropped only after it is written: a cancelled one is written next time.
        async with self._looking:
            if self not in self._written:
                return True
            unread = self._peer.unread_bytes() if self._peer else 0
            while self._notes and unread == 0:
                await self._notes[0]()
                self._notes.pop(0)
            return not self._notes or unread is None

    def close(self) -> None:
        """Wait no longer."""
        if self in self._written and self._peer:
            self._peer.forget_arrival()
        self._written.discard(self)


class Receipts:
    """The answers that are on their way to clients."""

    def __init__(self) -> None:
        self._written: set[Receipt] = set()

    @asynccontextmanager
    async def expected(self, owner: str, scope: Scope) -> AsyncGenerator[Receipt]:
        """Yield the receipt of a request, and wait after the block until its answer has arrived or never will."""
        # First, because a call that is repeated asks anew only if its earlier answer has arrived.
        for earlier in tuple(self._written):
            if earlier.owner == owner:
                await earlier.look()
        receipt = scope[RECEIPT] = Receipt(owner, peer_of(scope), self._written)
        try:
            yield receipt
            for seconds in pauses():
                if await receipt.look():
                    return
                await anyio.sleep(seconds)
        finally:
            receipt.close()


def peer_of(scope: Scope) -> Peer | None:
    """Return the connection of a request, if it makes itself known."""
    return cast("Peer | None", scope.get(CONNECTION))


def receipt_of(request: ServerRequestContext[Any, Any]) -> Receipt | None:
    """Return the receipt of a request's result."""
    scope: Mapping[str, Any] = getattr(request.request, "scope", None) or {}
    return scope.get(RECEIPT)
