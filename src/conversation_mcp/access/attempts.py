"""How often somebody tried without a valid token, by address."""

import time
from collections.abc import Callable

FREE_ATTEMPTS = 20
WINDOW_SECONDS = 60.0
MOST_ADDRESSES = 10_000
"""A flood from more addresses than this forgets the oldest, so that memory stays bounded."""


class FailedAttempts:
    """Counts failed attempts of each address within a minute."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._counts: dict[str, tuple[float, int]] = {}

    def __len__(self) -> int:
        """Return how many addresses are known."""
        return len(self._counts)

    def note(self, address: str) -> int:
        """Count one more; return for how many seconds further ones are only turned away, 0 if they are not yet."""
        now = self._seconds()
        since, count = self._counts.pop(address, (now, 0))
        if now - since >= WINDOW_SECONDS:
            since, count = now, 0
        self._counts[address] = since, count + 1
        if len(self._counts) > MOST_ADDRESSES:
            del self._counts[next(iter(self._counts))]
        return 0 if count < FREE_ATTEMPTS else max(1, round(since + WINDOW_SECONDS - now))

    def is_first_over(self, address: str) -> bool:
        """Tell whether the last attempt was the first that was only turned away, which is worth a line in the log."""
        return self._counts.get(address, (0.0, 0))[1] == FREE_ATTEMPTS + 1
