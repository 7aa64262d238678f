"""How long is waited for what, read from the data file beside this module."""

import tomllib
from importlib.resources import files

from conversation_mcp.providers.data import Data
from conversation_mcp.providers.wire.http import RetryLimits


class Timeouts(Data):
    """How long is waited for what."""

    connect_seconds: float
    silence_seconds: float
    answer_seconds: float
    look_seconds: float
    research_seconds: float
    probe_seconds: float


class Polling(Data):
    """How a background run is watched."""

    first_wait_seconds: float
    growth: float
    max_wait_seconds: float
    max_failures: int
    grace_seconds: float
    cancel_wait_seconds: float
    cancel_looks: int


class Limits(Data):
    """The patience with one provider."""

    timeouts: Timeouts
    retry: RetryLimits
    polling: Polling

    def with_timeouts(self, **seconds: float) -> "Limits":
        """Return the limits with other timeouts."""
        return self.model_copy(update={"timeouts": self.timeouts.model_copy(update=seconds)})


def _load() -> Limits:
    data = files("conversation_mcp.providers.wire").joinpath("limits.toml").read_text(encoding="utf-8")
    return Limits.model_validate(tomllib.loads(data))


LIMITS = _load()
"""Read while this module is imported, like code: that happens once, and never while an event loop waits for a file."""
