"""What was read last, kept in memory for as long as it is the same on disk."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

Key = TypeVar("Key")
State = TypeVar("State")
Value = TypeVar("Value")


class _Entry(NamedTuple, Generic[State, Value]):
    state: State
    value: Value
    size: int


class Recent(Generic[Key, State, Value]):
    """Values by key, up to a number of bytes; the least recently used go first. Threads may share it.

    Each belongs to one state of what it was read from: a stamp, or the bytes themselves.
    """

    def __init__(self, max_bytes: int, largest_bytes: int = 0) -> None:
        """Keep up to `max_bytes`; a value of up to `largest_bytes` is kept on its own even if it takes more."""
        self._max_bytes = max_bytes
        self._largest_bytes = max(max_bytes, largest_bytes)
        self._bytes = 0
        self._entries: OrderedDict[Key, _Entry[State, Value]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key, state: State) -> Value | None:
        """Return the value, if it belongs to this state."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or entry.state != state:
                return None
            self._entries.move_to_end(key)
            return entry.value

    def last(self, key: Key) -> Value | None:
        """Return the value, whatever state it belongs to."""
        with self._lock:
            entry = self._entries.get(key)
            return None if entry is None else entry.value

    def make_room(self, key: Key, size: int) -> None:
        """Drop now what `put` of a value of that size would, so that both are not in memory at once."""
        with self._lock:
            self._make_room(key, size)

    def put(self, key: Key, state: State, value: Value, size: int) -> None:
        """Keep the value in place of an earlier one, unless it is too large on its own."""
        with self._lock:
            self._make_room(key, size)
            if size <= self._largest_bytes:
                self._entries[key] = _Entry(state, value, size)
                self._bytes += size

    def drop(self, is_gone: Callable[[Key], bool]) -> None:
        """Drop the values whose keys are gone."""
        with self._lock:
            for key in [key for key in self._entries if is_gone(key)]:
                self._drop(key)

    def _make_room(self, key: Key, size: int) -> None:
        self._drop(key)
        if size <= self._largest_bytes:
            while self._entries and self._bytes + size > self._max_bytes:
                self._drop(next(iter(self._entries)))

    def _drop(self, key: Key) -> None:
        if (entry := self._entries.pop(key, None)) is not None:
            self._bytes -= entry.size
