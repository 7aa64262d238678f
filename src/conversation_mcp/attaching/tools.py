"""What every reading of files uses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from conversation_mcp.attaching.cache import FileCache
from conversation_mcp.attaching.limits import ReadLimits, RefusedError
from conversation_mcp.attaching.secrets import SecretRules
from conversation_mcp.documents.formats import Formats


class StoppedError(Exception):
    """Nobody waits for the files any more."""


@dataclass(frozen=True)
class Tools:
    """The limits, the rules of names and contents, what was read before, and when to stop."""

    limits: ReadLimits
    formats: Formats
    secrets: SecretRules
    cache: FileCache
    is_settled: Callable[[int], bool]
    """Tells whether a file that was changed at this time, in nanoseconds, cannot change again unnoticed."""
    seconds_left: Callable[[], float]
    is_stopped: Callable[[], bool]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """The variables by which programs are found."""

    def check_stop(self) -> None:
        """End the reading if nobody waits for it.

        Raises:
            StoppedError: that is so.
        """
        if self.is_stopped():
            raise StoppedError

    def check_time(self) -> None:
        """Refuse a file that comes too late.

        Raises:
            StoppedError: nobody waits for it.
            RefusedError: the time is over.
        """
        self.check_stop()
        if self.seconds_left() < 0:
            raise RefusedError(self.limits.too_late)
