"""The HTTP client that all adapters share, and the only repetition of a paid call that is allowed."""

import math
import os
import re
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from anyio import Lock, to_thread

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.providers.base import Progress
from conversation_mcp.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

Sleep = Callable[[float], Awaitable[None]]

PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
TOO_MANY_REQUESTS = 429
RATE_LIMITED = "being rate limited"
UNREACHABLE = "a failed connection"
DOING = {RATE_LIMITED: "rate limited", UNREACHABLE: "not reachable"}


class LazyClient:
    """One `httpx.AsyncClient` for the whole program, made on first use; proxies come from the environment."""

    def __init__(self, transport: "httpx.AsyncBaseTransport | None" = None) -> None:
        self._transport = transport
        self._client: httpx.AsyncClient | None = None
        self._making = Lock()

    async def get(self) -> "httpx.AsyncClient":
        """Return the client.

        Raises:
            InvalidInputError: a proxy or certificate variable cannot be used; the message names it.
        """
        async with self._making:
            if self._client is None:
                self._client = await to_thread.run_sync(self._make)
            return self._client

    async def aclose(self) -> None:
        """Close all connections; harmless when there never was one."""
        client, self._client = self._client, None
        if client:
            await client.aclose()

    def _make(self) -> "httpx.AsyncClient":
        import httpx  # noqa: PLC0415 -- costs start-up time

        try:
            return httpx.AsyncClient(transport=self._transport)
        except ImportError as error:
            raise InvalidInputError(_socks_problem()) from error
        except (ValueError, httpx.InvalidURL) as error:
            raise InvalidInputError(_proxy_problem()) from error
        except OSError as error:
            raise InvalidInputError(_certificate_problem()) from error


def _proxies() -> dict[str, str]:
    spellings = [spelling for name in PROXY_VARIABLES for spelling in (name, name.lower())]
    return {name: value for name in spellings if (value := os.environ.get(name, ""))}


def _socks_problem() -> str:
    names = [name for name, value in _proxies().items() if value.lower().startswith("socks")]
    return (
        f"{' and '.join(names) or 'a proxy variable'} names a SOCKS proxy, which needs a package that is not there. "
        "Run pip install 'httpx[socks]' in this installation, or unset it."
    )


def _proxy_problem() -> str:
    import httpx  # noqa: PLC0415 -- costs start-up time

    def unusable(value: str) -> bool:
        try:
            httpx.Proxy(value)
        except (ValueError, httpx.InvalidURL):
            return True
        return False

    names = [name for name, value in _proxies().items() if unusable(value if "://" in value else f"http://{value}")]
    return f"{' and '.join(names) or ' or '.join(PROXY_VARIABLES)} is not the address of a proxy. Mend or unset it."


def _certificate_problem() -> str:
    names = [name for name in CERTIFICATE_VARIABLES if os.environ.get(name)]
    return f"{' or '.join(names or CERTIFICATE_VARIABLES)} names no readable certificates. Mend or unset it."


@dataclass(frozen=True)
class RetryLimits:
    """How long a call may be put off, by one wait and by all together."""

    first_wait_seconds: float
    max_wait_seconds: float
    max_total_seconds: float


@dataclass(frozen=True)
class Sent:
    """The response to a call, open for reading, and what there is to say about how it was sent."""

    response: "httpx.Response"
    notices: tuple[str, ...] = ()


class _Patience:
    def __init__(self, retries: int, limits: RetryLimits) -> None:
        self._retries = retries
        self._limits = limits
        self._waited_seconds = 0.0
        self._reasons: Counter[str] = Counter()

    def take(self, wanted_seconds: float | None, reason: str) -> float | None:
        """Return for how long to wait before the next try, or None when there is none."""
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
    """Call `send` until the server takes the request, and yield Sent last; it is closed with this generator.

    Only what cannot have been billed is repeated: a connection that was not made, and a 429.
    A 429 that must not be waited for is yielded like any other response; httpx's errors are passed on.
    """
    import httpx  # noqa: PLC0415 -- costs start-up time

    patience = _Patience(retries, limits)
    while True:
        try:
            response = await send()
        except (httpx.ConnectError, httpx.ConnectTimeout):
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
    """Return for how long the server asks to wait; a date is read against the server's own clock."""
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
