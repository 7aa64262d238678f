"""Visits: who is in front of the pages, and the services that their requests work on."""

import hmac
import secrets
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol

from conversation_mcp.app import App


def _as_it_is(text: str) -> str:
    return text


class Visit(NamedTuple):
    """The services of one owner, for one request."""

    owner: str
    app: App
    cover: Callable[[str], str] = _as_it_is
    """Hides in a text what visitors from other machines must not read."""
    cover_error: Callable[[str], str] = _as_it_is
    """Hides it in the sentences of an error."""


OpenVisit = Callable[[str], AbstractAsyncContextManager[Visit]]
"""Opens the services of an owner for the length of a request."""


class Visits(Protocol):
    """Who may enter, and who is inside."""

    @property
    def cookie(self) -> str:
        """The name of the cookie."""
        ...

    @property
    def invitation(self) -> str:
        """What is said to who is not inside."""
        ...

    @property
    def takes_tokens(self) -> bool:
        """Whether who is not inside gets a form for a token."""
        ...

    async def enter(self, token: str, address: str) -> str | None:
        """Return the value of a cookie for who brings this token; None if the token opens nothing."""
        ...

    async def owner(self, cookie: str, address: str) -> str | None:
        """Return whose conversations the bearer of this cookie may see; None if it opens nothing."""
        ...


class LocalVisits:
    """One token, made for this run, which opens the conversations of one owner on this machine."""

    invitation = "Open the address that conversation-mcp view printed; it holds a token."
    takes_tokens = False

    def __init__(self, port: int, owner: str) -> None:
        self.token = secrets.token_urlsafe(32)
        # Cookies do not know ports: two viewers on one machine must not overwrite each other's.
        self.cookie = f"conversation-mcp-{port}"
        self._owner = owner
        self._value = secrets.token_urlsafe(32)

    async def enter(self, token: str, address: str) -> str | None:
        """Compare in constant time."""
        del address
        return self._value if hmac.compare_digest(token.encode(), self.token.encode()) else None

    async def owner(self, cookie: str, address: str) -> str | None:
        """Compare in constant time."""
        del address
        return self._owner if hmac.compare_digest(cookie.encode(), self._value.encode()) else None
