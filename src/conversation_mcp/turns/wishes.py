"""What others want of a turn: that it stops, or that it begins nothing any more."""

from anyio import CancelScope


class Wishes:
    """The wishes for one turn, and the scopes of its work in which they are heeded."""

    def __init__(self) -> None:
        self.is_stopped = False
        self.is_refused = False
        self._is_unwanted = False
        self._line = CancelScope()
        self._sending = CancelScope()

    @property
    def is_given_up(self) -> bool:
        """Whether the turn ends without having got what it was begun for; nobody should join it any more."""
        return self.is_stopped or self.is_refused or self._is_unwanted

    def stop(self) -> None:
        """End the turn, because a person wishes so."""
        self.is_stopped = True
        self._line.cancel()
        self._sending.cancel()

    def refuse(self) -> None:
        """Ask nothing any more, because the server ends."""
        self.is_refused = True
        self._line.cancel()

    def give_up(self) -> None:
        """Leave the line, because nobody waits for the answer."""
        self._is_unwanted = True
        self._line.cancel()

    def line(self) -> CancelScope:
        """Return the scope of the next wait in a line; any wish ends it, also one from before."""
        self._line = CancelScope()
        if self.is_given_up:
            self._line.cancel()
        return self._line

    def sending(self) -> CancelScope:
        """Return the scope in which a question is answered; a wish to stop ends it, also one from before."""
        self._sending = CancelScope()
        if self.is_stopped:
            self._sending.cancel()
        return self._sending
