"""The events of streams, kept for clients that come back for them."""

from itertools import count

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.types import JSONRPCMessage


class EventsInMemory(EventStore):
    def __init__(self) -> None:
        self._numbers = count(1)
        self._events: dict[int, tuple[str, JSONRPCMessage | None]] = {}

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        number = next(self._numbers)
        self._events[number] = (stream_id, message)
        return str(number)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        last = int(last_event_id)
        stream_id = self._events.get(last, (None, None))[0]
        for number, (stream, message) in list(self._events.items()):
            if stream == stream_id and number > last and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream_id
