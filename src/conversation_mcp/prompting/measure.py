"""Counting of tokens that remembers, because most of a request was counted for the one before it."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

from conversation_mcp.providers.estimate import MOST_TOKENS_PER_CHAR, estimated_tokens

Value = TypeVar("Value")
MAX_COUNTS = 20_000
MAX_CHARS = 16_000_000


class Remembered(Generic[Value]):
    """Values by key, of which the least recently used are forgotten. Threads may share it."""

    def __init__(self, most: int, size_of: Callable[[Value], int]) -> None:
        """Remember values of this size together."""
        self._most, self._size_of = most, size_of
        self._size = 0
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of the key; it is made if it is not known."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        # Without the lock, because it may take long; two threads may then make the same, which does no harm.
        value = make()
        with self._lock:
            if key not in self._values:
                self._values[key] = value
                self._size += self._size_of(value)
            while self._size > self._most:
                _, forgotten = self._values.popitem(last=False)
                self._size -= self._size_of(forgotten)
        return value


class Measure:
    """Counts tokens, and remembers counts and whatever else is made from texts alone."""

    def __init__(
        self, tokens_of_text: Callable[[str], int] = estimated_tokens, most_per_char: float = MOST_TOKENS_PER_CHAR
    ) -> None:
        self.most_per_char = most_per_char
        self._tokens_of_text = tokens_of_text
        self._counts = Remembered[int](MAX_COUNTS, lambda _: 1)
        self._texts = Remembered[str | None](MAX_CHARS, lambda text: len(text or "") + 1)

    def tokens(self, text: str) -> int:
        """Return the tokens of the text; its hash stands for it, so that no text is held."""
        return self._counts.get((len(text), hash(text)), lambda: self._tokens_of_text(text))

    def count(self, key: Hashable, count: Callable[[], int]) -> int:
        """Return the count that belongs to the key; it is made if it is not known."""
        return self._counts.get(key, count)

    def text(self, key: Hashable, make: Callable[[], str]) -> str:
        """Return the text that belongs to the key; it is made if it is not known."""
        return self.optional_text(key, make) or ""

    def optional_text(self, key: Hashable, make: Callable[[], str | None]) -> str | None:
        """Return the text that belongs to the key, or None if there is none; it is made if it is not known."""
        return self._texts.get(key, make)
