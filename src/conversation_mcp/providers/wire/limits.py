"""Timeouts and intervals, read from the data file beside this module."""

import tomllib
from importlib.resources import files

from conversation_mcp.providers.data import Data
from conversation_mcp.providers.wire.http import RetryLimits


class Timeouts(Data):
    """The timeouts; the data file explains each."""

    connect_seconds: float
    silence_seconds: float
    answer_seconds: float
    look_seconds: float
    research_seconds: float
    probe_seconds: float


class Polling(Data):
    """The intervals and limits of polling a background run."""

    first_wait_seconds: float
    growth: float
    max_wait_seconds: float
    max_failures: int
    grace_seconds: float
    cancel_wait_seconds: float
    cancel_looks: int


class Limits(Data):
    """All limits in time for one provider."""

    timeouts: Timeouts
    retry: RetryLimits
    polling: Polling

    def with_timeouts(self, **seconds: float) -> "Limits":
        """Return the limits with these timeouts replaced."""
        return self.model_copy(update={"timeouts": self.timeouts.model_copy(update=seconds)})


def _load() -> Limits:
    data = files("conversation_mcp.providers.wire").joinpath("limits.toml").read_text(encoding="utf-8")
    return Limits.model_validate(tomllib.loads(data))


LIMITS = _load()
"""Read on import, like code: once, and never while an event loop waits for the file."""
