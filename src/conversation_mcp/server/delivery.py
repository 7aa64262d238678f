"""Deliveries: a result is delivered when the client has read it, not when it was made."""

from collections import deque
from collections.abc import Iterator

import anyio
from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from conversation_mcp.turns.ask import Note

POLL_SECONDS = 0.02
MAX_POLL_SECONDS = 1.0

Id = str | int


class Deliveries:
    """Follows the tool calls of one client, from their request to the moment when their result was read."""

    def __init__(self) -> None:
        self._in_flight: set[Id] = set()
        self._owed: dict[Id, list[Note]] = {}
        self._written: deque[tuple[int, list[Note]]] = deque()
        self._was_written = anyio.Event()
        self._settling = anyio.Lock()

    def received(self, message: JSONRPCMessage) -> None:
        """Hear of what the client sent."""
        if isinstance(message, JSONRPCRequest):
            self._owed.pop(message.id, None)
            if message.method == "tools/call":
                self._in_flight.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._ended((message.params or {}).get("requestId"))

    async def owe(self, request_id: Id | None, note: Note) -> None:
        """Keep what is to be noted once the answer to that request was read."""
        if request_id is not None:
            self._owed.setdefault(request_id, []).append(note)

    def sent(self, message: JSONRPCMessage, upto_bytes: int | None) -> None:
        """Hear that a message was written, with so much altogether; None for one that could not be."""
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            notes = self._owed.pop(message.id, [])
            if notes and upto_bytes is not None:
                self._written.append((upto_bytes, notes))
                self._was_written.set()
            self._ended(message.id)

    async def settle(self, read_bytes: int) -> None:
        """Note the delivery of what the client has read, when it has read so much."""
        async with self._settling:
            while self._written and self._written[0][0] <= read_bytes:
                for note in self._written[0][1]:
                    await note()
                self._written.popleft()

    async def wait_written(self) -> None:
        """Wait until there is something that may not have been read."""
        while not self._written:
            self._was_written = anyio.Event()
            await self._was_written.wait()

    @property
    def is_settled(self) -> bool:
        """Tell whether everything that was written was read."""
        return not self._written

    @property
    def is_over(self) -> bool:
        """Tell whether no tool call waits for its answer, and none of the answers for its reader."""
        return self.is_settled and not self._in_flight

    @property
    def owes(self) -> bool:
        """Tell whether a result was made that is not written yet."""
        return not self._in_flight.isdisjoint(self._owed)

    def _ended(self, request_id: object) -> None:
        if isinstance(request_id, str | int):
            self._in_flight.discard(request_id)


def pauses() -> Iterator[float]:
    """Yield growing pauses between looks at what was read."""
    seconds = POLL_SECONDS
    while True:
        yield seconds
        seconds = min(2 * seconds, MAX_POLL_SECONDS)
