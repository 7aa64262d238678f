"""The requests of others to a turn: to stop, or to begin nothing more."""

from anyio import CancelScope


class Wishes:
    """The wishes for one turn, and the cancel scopes of its work that they end."""

    def __init__(self) -> None:
        self.is_stopped = False
        self.is_refused = False
        self._is_unwanted = False
        self._line = CancelScope()
        self._sending = CancelScope()

    @property
    def is_given_up(self) -> bool:
        """Whether the turn will end without the answer it was begun for, so that no caller should join it."""
        return self.is_stopped or self.is_refused or self._is_unwanted

    def stop(self) -> None:
        """End the turn, because a person wants it stopped."""
        self.is_stopped = True
        self._line.cancel()
        self._sending.cancel()

    def refuse(self) -> None:
        """Send nothing more, because the server ends."""
        self.is_refused = True
        self._line.cancel()

    def give_up(self) -> None:
        """Leave the queue, because nobody waits for the answer."""
        self._is_unwanted = True
        self._line.cancel()

    def line(self) -> CancelScope:
        """Return the scope of the next wait in a queue; any wish ends it, even an earlier one."""
        self._line = CancelScope()
        if self.is_given_up:
            self._line.cancel()
        return self._line

    def sending(self) -> CancelScope:
        """Return the scope in which a question is answered; a wish to stop ends it, even an earlier one."""
        self._sending = CancelScope()
        if self.is_stopped:
            self._sending.cancel()
        return self._sending
