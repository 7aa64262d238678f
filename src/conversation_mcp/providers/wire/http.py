"""The only code that repeats a paid call."""

import math
import re
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from conversation_mcp.providers.base import Progress
from conversation_mcp.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

Sleep = Callable[[float], Awaitable[None]]

SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
TOO_MANY_REQUESTS = 429
RATE_LIMITED = "being rate limited"
UNREACHABLE = "a failed connection"
DOING = {RATE_LIMITED: "rate limited", UNREACHABLE: "not reachable"}


@dataclass(frozen=True)
class RetryLimits:
    """The limits of the waits before a call is repeated: of one wait, and of all together."""

    first_wait_seconds: float
    max_wait_seconds: float
    max_total_seconds: float


@dataclass(frozen=True)
class Sent:
    """The response to a call, open for reading, and notices about its repetitions."""

    response: "httpx.Response"
    notices: tuple[str, ...] = ()


class _Patience:
    def __init__(self, retries: int, limits: RetryLimits) -> None:
        self._retries = retries
        self._limits = limits
        self._waited_seconds = 0.0
        self._reasons: Counter[str] = Counter()

    def take(self, wanted_seconds: float | None, reason: str) -> float | None:
        """Return how long to wait before the next try, or None if there is none."""
        tries = self._reasons.total()
        wait = self._limits.first_wait_seconds * 2**tries if wanted_seconds is None else wanted_seconds
        total = self._waited_seconds + wait
        if tries >= self._retries or wait > self._limits.max_wait_seconds or total > self._limits.max_total_seconds:
            return None
        self._waited_seconds = total
        self._reasons[reason] += 1
        return wait

    def notices(self) -> tuple[str, ...]:
        return tuple(
            f"The provider was asked again {counted(count, 'time')} after {reason}; nothing was billed for that."
            for reason, count in self._reasons.items()
        )


async def send_create(
    send: "Callable[[], Awaitable[httpx.Response]]", *, retries: int, limits: RetryLimits, sleep: Sleep
) -> AsyncGenerator[Progress | Sent]:
    """Call `send` until the server accepts the request, and yield Sent last; it is closed with this generator.

    Only what cannot have been billed is repeated: a failed connection, and a 429.
    The 429 after the last try is yielded like any other response; errors of httpx are passed on.
    """
    import httpx

    patience = _Patience(retries, limits)
    while True:
        try:
            response = await send()
        except (httpx.ConnectError, httpx.ConnectTimeout):  # the request has not left: all other errors may be billed
            reason = UNREACHABLE
            wait = patience.take(None, reason)
            if wait is None:
                raise
        else:
            reason = RATE_LIMITED
            try:
                wait = None
                if response.status_code == TOO_MANY_REQUESTS:
                    wait = patience.take(retry_after_seconds(response.headers), reason)
                if wait is None:
                    yield Sent(response, patience.notices())
                    return
            finally:
                await response.aclose()
        yield Progress(f"{DOING[reason]}, trying again in {math.ceil(wait)} s")
        await sleep(wait)


def retry_after_seconds(headers: "Mapping[str, str]") -> float | None:
    """Return the time that the server asks to wait; a date is compared with the server's own clock."""
    # Not a standard header, but more exact than the standard one, which counts whole seconds.
    milliseconds = headers.get("retry-after-ms", "").strip()
    if SECONDS.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    value = headers.get("retry-after", "").strip()
    if SECONDS.fullmatch(value):
        return float(value)
    try:
        wait = parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("date", ""))
    except (ValueError, TypeError):
        return None
    return max(0.0, wait.total_seconds())
