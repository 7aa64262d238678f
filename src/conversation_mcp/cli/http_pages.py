"""The viewer behind a server over HTTP: each visitor sees what belongs to the owner of their token."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

from starlette.types import ASGIApp

from conversation_mcp.server.http.callers import Authenticator, Identity
from conversation_mcp.server.http.serving import Entrance, OpenEntrance, OpenVisit
from conversation_mcp.settings import Settings
from conversation_mcp.web.gate import Gate
from conversation_mcp.web.site import build_site
from conversation_mcp.web.visits import Visit

COOKIE = "conversation-mcp"


class TokenVisits:
    """Lets in who has a token of the server. The cookie is the token, so revoking it ends the visit at once."""

    cookie = COOKIE
    invitation = "Enter with a token of this server."
    takes_tokens = True

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    async def enter(self, token: str, address: str) -> str | None:
        """Return the token if it is valid."""
        return token if await self.owner(token, address) is not None else None

    async def owner(self, cookie: str, address: str) -> str | None:
        """Return the owner of the token; without any, as far as the server needs none."""
        headers = [(b"authorization", f"Bearer {cookie}".encode())] if cookie else []
        found = await self._authenticator.identify(headers, address)
        return found.owner if isinstance(found, Identity) else None


def entrance_with_pages(open_entrance: OpenEntrance, settings: Settings, *, is_secure: bool) -> Entrance:
    """Return the entrance with pages for browsers; `is_secure` if these reach the server over HTTPS only."""
    return open_entrance(settings)._replace(make_pages=partial(_pages, is_secure=is_secure))


def _pages(authenticator: Authenticator, open_visit: OpenVisit, *, is_secure: bool) -> ASGIApp:
    @asynccontextmanager
    async def opened(owner: str) -> AsyncGenerator[Visit]:
        async with open_visit(owner) as (app, veil):
            yield Visit(owner, app, veil.text, veil.sentences)

    # The front of the server has checked the host.
    return Gate(build_site(), TokenVisits(authenticator), opened, lambda _: True, is_secure=is_secure)
