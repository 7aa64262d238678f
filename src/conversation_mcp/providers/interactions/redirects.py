"""The pages behind addresses that only lead on to them: each is asked where it leads, and nobody goes there."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from anyio import CapacityLimiter, create_task_group, move_on_after

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.providers.loopback import is_loopback
from conversation_mcp.records.models import Source
from conversation_mcp.text import storable

if TYPE_CHECKING:
    import httpx

MAX_ADDRESSES = 50
AT_ONCE = 8
WITHIN_SECONDS = 4.0
"""How long all of them may take together: the answer waits for them."""
MAX_ADDRESS_CHARS = 2000
LEADING_ON = frozenset({301, 302, 303, 307, 308})
HTTPS = "https"


class Redirects:
    """Finds out where addresses at these hosts lead; no other host is ever asked."""

    def __init__(self, client: LazyClient, hosts: frozenset[str], *, within_seconds: float = WITHIN_SECONDS) -> None:
        self._client = client
        self._hosts = hosts
        self._within_seconds = within_seconds

    async def resolved(self, sources: tuple[Source, ...]) -> tuple[Source, ...]:
        """Return the sources with the addresses of their pages; an address that tells none in time stays as it is."""
        wanted = [url for url in dict.fromkeys(source.url or "" for source in sources) if self._leads_on(url)]
        if not wanted:
            return sources
        pages: dict[str, str] = {}
        limiter = CapacityLimiter(AT_ONCE)

        async def ask(url: str) -> None:
            async with limiter:
                if page := await self._page(url):
                    pages[url] = page

        with move_on_after(self._within_seconds):
            async with create_task_group() as tasks:
                for url in wanted[:MAX_ADDRESSES]:
                    tasks.start_soon(ask, url)
        return tuple(_at(source, pages) for source in sources)

    def _leads_on(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
            is_plain = parts.port in {None, 443} and parts.username is None
        except ValueError:
            return False
        return parts.scheme == HTTPS and is_plain and (parts.hostname or "") in self._hosts

    async def _page(self, url: str) -> str:
        import httpx

        try:
            client = await self._client.get(url)
            timeout = httpx.Timeout(self._within_seconds).as_dict()
            # Not made by the client, which would add cookies.
            request = httpx.Request("HEAD", url, extensions={"timeout": timeout})
            response = await client.send(request, stream=True, auth=None, follow_redirects=False)
        except (httpx.HTTPError, httpx.InvalidURL, InvalidInputError, ValueError):
            return ""
        try:
            return self._told(response)
        finally:
            await response.aclose()

    def _told(self, response: "httpx.Response") -> str:
        place = storable(response.headers.get("location", "")) if response.status_code in LEADING_ON else ""
        return place if _is_page(place) and not self._leads_on(place) else ""


def _at(source: Source, pages: Mapping[str, str]) -> Source:
    page = pages.get(source.url or "")
    return source.model_copy(update={"url": page}) if page else source


def _is_page(address: str) -> bool:
    """Tell whether this can be the address of a page that everybody sees."""
    if len(address) > MAX_ADDRESS_CHARS or not address.isprintable() or " " in address:
        return False
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme not in {"http", HTTPS} or not host or parts.username is not None or is_loopback(address):
        return False
    try:
        # The address becomes a link for people, and must not lead them to a host of their own network.
        return ip_address(host).is_global
    except ValueError:
        return "." in host  # a name without a dot is one of a local network
