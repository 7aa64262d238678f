"""The HTTP clients that all adapters share."""

import os
from functools import partial
from typing import TYPE_CHECKING

from anyio import Lock, to_thread

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.providers.loopback import is_loopback

if TYPE_CHECKING:
    import httpx

PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
DIRECT = ("all://", "http://", "https://")
"""The schemes without a proxy in calls of a server on this machine, so that its words stay on the machine."""
CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


class LazyClient:
    """The `httpx.AsyncClient`s of the program, created on first use: one for this machine, one for all other hosts."""

    def __init__(self, transport: "httpx.AsyncBaseTransport | None" = None) -> None:
        self._transport = transport
        self._clients: dict[bool, httpx.AsyncClient] = {}
        self._making = Lock()

    async def get(self, address: str) -> "httpx.AsyncClient":
        """Return the client for an address; proxies come from the environment, but not for a loopback address.

        Raises:
            InvalidInputError: a proxy or certificate variable is not valid; the message names it.
        """
        is_direct = is_loopback(address)
        async with self._making:  # two first calls at once must not create two clients
            if is_direct not in self._clients:
                # In a thread: httpx is slow to import and reads the certificates from disk.
                make = partial(self._make, is_direct=is_direct)
                self._clients[is_direct] = await to_thread.run_sync(make)
            return self._clients[is_direct]

    async def aclose(self) -> None:
        """Close all connections, if there are any."""
        while self._clients:
            _, client = self._clients.popitem()
            await client.aclose()

    def _make(self, *, is_direct: bool) -> "httpx.AsyncClient":
        import httpx

        try:
            return httpx.AsyncClient(transport=self._transport, mounts=dict.fromkeys(DIRECT) if is_direct else None)
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
        f"{' and '.join(names) or 'a proxy variable'} names a SOCKS proxy, which needs a package that is not "
        "installed. Run pip install 'httpx[socks]' in this installation, or unset it."
    )


def _proxy_problem() -> str:
    import httpx

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
