"""A parser of server-sent events; it also accepts errors that servers write into the stream without framing."""

import re
from dataclasses import dataclass

LINE_END = re.compile(rb"\r\n|\r|\n")
UNFRAMED = ("{", "[{")
"""The start of JSON that was written into the stream without framing; no field of an event begins so."""
FIELDS = frozenset({"data", "event", "error", "id", "retry"})
BOM = b"\xef\xbb\xbf"
MAX_EVENT_BYTES = 8 * 2**20


class EventTooLargeError(ValueError):
    """A line or an event is larger than anything sent on purpose."""


@dataclass(frozen=True)
class ServerSentEvent:
    """One event; `event` is its name, empty without one."""

    event: str
    data: str


class SseParser:
    """Parses a stream incrementally: feed it chunks, cut anywhere, then close it once."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._line: list[bytes] = []
        self._skip_line_feed = False
        self._at_start = True
        self._event = ""
        self._data: list[str] = []
        self._size_bytes = 0
        self._is_bare = False

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Return the events that this chunk completes.

        Raises:
            EventTooLargeError: an event exceeds the limit.
        """
        # A CRLF may be cut between two chunks: its LF must not count as another line end.
        if self._skip_line_feed and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._skip_line_feed = False
        self._skip_line_feed = self._skip_line_feed or chunk.endswith(b"\r")
        *ended, rest = LINE_END.split(chunk)
        events: list[ServerSentEvent] = []
        for piece in ended:
            self._append(piece)
            events += self._end_line()
        self._append(rest)
        return events

    def close(self) -> list[ServerSentEvent]:
        """Return the event at the end of the stream, even without the blank line: it may hold a paid answer."""
        return [*self._end_line(), *self._dispatch()]

    def _append(self, piece: bytes) -> None:
        self._line.append(piece)
        self._size_bytes += len(piece)
        if self._size_bytes > self._max_event_bytes:
            raise EventTooLargeError(f"an event is larger than {self._max_event_bytes} bytes")

    def _end_line(self) -> list[ServerSentEvent]:
        line = b"".join(self._line)
        self._line.clear()
        if self._at_start:
            line = line.removeprefix(BOM)
            self._at_start = False
        if not line:
            return self._dispatch()
        text = line.decode("utf-8", "replace")
        field, _, value = text.partition(":")
        events = self._dispatch() if self._is_bare and field in FIELDS else []
        if self._is_bare or (text.startswith(UNFRAMED) and not self._data):
            self._is_bare = True
            self._data.append(text)
        elif field == "error":
            self._event = field
            self._data.append(value.removeprefix(" "))
        elif field == "data":
            self._data.append(value.removeprefix(" "))
        else:  # comments that keep the connection open are no part of the event, however many come
            self._size_bytes -= len(line)
        if field == "event":
            self._event = value.removeprefix(" ")
        return events

    def _dispatch(self) -> list[ServerSentEvent]:
        data = "\n".join(self._data)
        events = [ServerSentEvent(self._event, data)] if data else []
        self._event, self._size_bytes, self._is_bare = "", 0, False
        self._data.clear()
        return events
