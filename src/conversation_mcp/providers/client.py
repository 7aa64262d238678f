"""The HTTP client that all adapters share."""

import os
from typing import TYPE_CHECKING

from anyio import Lock, to_thread

from conversation_mcp.errors import InvalidInputError

if TYPE_CHECKING:
    import httpx

PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
DIRECT = ("all://localhost", "all://127.0.0.1", "all://[::1]")
"""What never goes to a proxy: words for a server of this machine stay on it."""
CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


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
            return httpx.AsyncClient(transport=self._transport, mounts=dict.fromkeys(DIRECT))
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
