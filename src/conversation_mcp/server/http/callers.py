"""Who calls over HTTP: the port between the server and whatever knows tokens."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from conversation_mcp.owners import LOCAL

HeaderLines = Iterable[tuple[bytes, bytes]]
"""The headers of a request as they came, with names in lower case; a name may come more than once."""
NO_HEADERS: Mapping[str, str] = {}


MayActFor = Callable[[str], bool]
"""Tells for which owners beside its own one a caller may work."""


def nobody_else(owner: str) -> bool:
    """Allow nobody."""
    del owner
    return False


class Identity(NamedTuple):
    """An authenticated caller."""

    owner: str
    """Whose conversations it works on."""
    name: str | None = None
    """What logs call it, such as the name of its token."""
    may_act_for: MayActFor = nobody_else
    is_for_another: bool = False
    """Whether the owner is another one than that of its token."""


class Denial(NamedTuple):
    """A request that is not served, and how it is answered."""

    status: int
    text: str
    headers: Mapping[str, str] = NO_HEADERS


class Authenticator(Protocol):
    """Decides who sends a request, by its headers alone; no argument of a tool and no body takes part."""

    async def identify(self, headers: HeaderLines, address: str) -> Identity | Denial:
        """Return the caller, or the answer to a request of nobody known; `address` is where the connection is from."""
        ...


class Anyone:
    """Takes every caller for the person who runs the server; only for a server that other machines cannot reach."""

    async def identify(self, headers: HeaderLines, address: str) -> Identity:
        """Return the owner `local`."""
        del headers, address
        return Identity(LOCAL)
