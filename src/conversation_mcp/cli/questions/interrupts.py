"""Ctrl-C and SIGTERM as a cancellation that the turn engine can handle."""

import asyncio
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

import anyio

from conversation_mcp.cli.output.terminal import say

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SIGNAL_EXIT = 128


class Interrupt:
    """Cancels on the first signal; the second one ends the process at once."""

    def __init__(self, what_happens: str) -> None:
        self.number: int | None = None
        self._what_happens = what_happens
        self._cancel: Callable[[], object] | None = None

    @property
    def exit_code(self) -> int:
        """The exit code that tells a shell which signal ended the program."""
        return SIGNAL_EXIT + (self.number or signal.SIGINT)

    def hear(self, number: int, _frame: FrameType | None) -> None:
        """Cancel the open scope; a scope that is opened later is cancelled at once."""
        self.number = number
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        say(f"\n{self._what_happens} Press Ctrl-C again to end at once.")
        if self._cancel:
            self._cancel()

    @contextmanager
    def scope(self) -> Generator[None]:
        """Cancel the body on a signal with a scope of anyio: only that lets a shielded write finish."""
        loop = asyncio.get_running_loop()
        with anyio.CancelScope() as scope:
            # The handler runs between any two instructions, and a sleeping loop must wake up for the cancellation.
            self._cancel = lambda: loop.call_soon_threadsafe(scope.cancel)
            if self.number is not None:
                scope.cancel()
            yield
        self._cancel = None


@contextmanager
def interrupts(what_happens: str) -> Generator[Interrupt]:
    """Handle signals in place of Python, which would raise KeyboardInterrupt anywhere in the code."""
    interrupt = Interrupt(what_happens)
    before = {number: signal.signal(number, interrupt.hear) for number in SIGNALS}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
