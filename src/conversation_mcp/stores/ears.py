"""What listens for changes by other processes, between two looks at the store.

News may be lost and looks may not, so whoever waits looks, pauses with its ear open, and looks again.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from anyio import sleep


class Ear(Protocol):
    """Hears of changes from the moment on that it is opened."""

    async def pause(self, seconds: float) -> None:
        """Return at the next news, at once if some came since the last pause, and otherwise after that time.

        Where news can be relied on, it may be longer without any.
        """
        ...


class DeafEar:
    """The ear of a store that brings no news."""

    async def pause(self, seconds: float) -> None:
        """Wait for that time."""
        await sleep(seconds)


@contextmanager
def hear_nothing(of: object = None) -> Generator[Ear]:
    """Open an ear in a store that brings no news, whatever it is to hear of."""
    del of
    yield DeafEar()
