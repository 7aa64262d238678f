"""Counting of tokens that remembers, because most of a request was counted for the one before it."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from conversation_mcp.providers.estimate import MOST_TOKENS_PER_CHAR, estimated_tokens

Value = TypeVar("Value")
MAX_COUNTS = 20_000
MAX_TEXTS = 1_000


class Remembered(Generic[Value]):
    """Values by key, of which the least recently used are forgotten; an object may be used by several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Value] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of the key; it is made if it is not known."""
        try:
            value = self._values[key]
            self._values.move_to_end(key)
        except KeyError:
            value = self._values[key] = make()
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value


class Measure:
    """Counts tokens, and remembers counts and whatever else is made from texts alone."""

    def __init__(
        self, tokens_of_text: Callable[[str], int] = estimated_tokens, most_per_char: float = MOST_TOKENS_PER_CHAR
    ) -> None:
        self.most_per_char = most_per_char
        self._tokens_of_text = tokens_of_text
        self._counts = Remembered[int](MAX_COUNTS)
        self.made = Remembered[Any](MAX_TEXTS)

    def tokens(self, text: str) -> int:
        """Return the tokens of the text; its hash stands for it, so that no text is held."""
        return self._counts.get((len(text), hash(text)), lambda: self._tokens_of_text(text))

    def count(self, key: Hashable, count: Callable[[], int]) -> int:
        """Return the count that belongs to the key; it is made if it is not known."""
        return self._counts.get(key, count)
