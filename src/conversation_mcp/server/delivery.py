"""Deliveries: a result counts as delivered once the client has read it, not once it is made."""

from collections import deque
from collections.abc import Iterator

import anyio
from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from conversation_mcp.turns.ask import Note

POLL_SECONDS = 0.02
MAX_POLL_SECONDS = 1.0

Id = str | int


class Deliveries:
    """Follows the tool calls of one client from the request until the client has read the result."""

    def __init__(self) -> None:
        self._in_flight: set[Id] = set()
        self._owed: dict[Id, list[Note]] = {}
        self._written: deque[tuple[int, list[Note]]] = deque()
        self._was_written = anyio.Event()
        self._settling = anyio.Lock()

    def received(self, message: JSONRPCMessage) -> None:
        """Record a message from the client."""
        if isinstance(message, JSONRPCRequest):
            # An id may come again after a cancelled request, whose notes must not go with the new answer.
            self._owed.pop(message.id, None)
            if message.method == "tools/call":
                self._in_flight.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._ended((message.params or {}).get("requestId"))

    async def owe(self, request_id: Id | None, note: Note) -> None:
        """Keep a note to write once the client has read the answer to that request."""
        if request_id is not None:
            self._owed.setdefault(request_id, []).append(note)

    def sent(self, message: JSONRPCMessage, upto_bytes: int | None) -> None:
        """Record that a message was written.

        Args:
            message: what was written.
            upto_bytes: the number of bytes written to the client so far; None if the message could not be written.
        """
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            notes = self._owed.pop(message.id, [])
            # Notes of an answer that could not be written are dropped: the same call again then gets this answer.
            if notes and upto_bytes is not None:
                self._written.append((upto_bytes, notes))
                self._was_written.set()
            self._ended(message.id)

    async def settle(self, read_bytes: int) -> None:
        """Write the notes of all results within the first `read_bytes` bytes."""
        # One at a time, and a note is dropped only after it is written: a cancelled one is written next time.
        async with self._settling:
            while self._written and self._written[0][0] <= read_bytes:
                for note in self._written[0][1]:
                    await note()
                self._written.popleft()

    async def wait_written(self) -> None:
        """Wait until something was written that the client may not have read."""
        while not self._written:
            self._was_written = anyio.Event()
            await self._was_written.wait()

    @property
    def is_settled(self) -> bool:
        """Tell whether the client has read everything that was written."""
        return not self._written

    @property
    def is_over(self) -> bool:
        """Tell whether every tool call is answered and every answer read."""
        return self.is_settled and not self._in_flight

    @property
    def owes(self) -> bool:
        """Tell whether a result exists that is not written yet."""
        return not self._in_flight.isdisjoint(self._owed)

    def _ended(self, request_id: object) -> None:
        if isinstance(request_id, str | int):
            self._in_flight.discard(request_id)


def pauses() -> Iterator[float]:
    """Yield growing pauses between checks of what the client has read."""
    seconds = POLL_SECONDS
    while True:
        yield seconds
        seconds = min(2 * seconds, MAX_POLL_SECONDS)
