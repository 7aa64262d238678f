"""A server at a URL, as clients are told of it: with the name of the variable that holds the token, never the token."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from conversation_mcp.cli.clients.catalog import SERVER_NAME, Client, joined
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.text import without_keys

TOKEN_VARIABLE = "CONVERSATION_MCP_TOKEN"  # noqa: S105 -- the name of a variable
AUTHORIZATION_VARIABLE = "CONVERSATION_MCP_AUTHORIZATION"
"""Holds `Bearer` and the token, for clients whose arguments must not have a space."""
EXAMPLE = "https://mcp.example.com/mcp"


class Remote(NamedTuple):
    """A running server and its URL."""

    url: str

    def without_keys(self) -> "Remote":
        """Return itself, because there is no key in it."""
        return self

    def entry(self, client: Client) -> dict[str, Any]:
        """Return the server's entry in a client's file."""
        return cast("dict[str, Any]", self._filled(client.remote["fields"]))

    def how_to_add(self, client: Client) -> str:
        """Return the client's own command that adds the server; empty if it has none."""
        words = cast("list[str]", client.remote.get("command", []))
        return joined(*(cast("str", self._filled(word)) for word in words))

    def what_next(self, client: Client) -> str:
        """Return where the client expects the token, and how it takes notice of its file."""
        return f"{self._filled(client.remote['token'])} {client.after}"

    def public_values(self, client: Client) -> Iterable[str]:
        """Return all texts of the entry: they name the token and do not hold it."""
        return _texts(self.entry(client))

    def _filled(self, value: object) -> object:
        if isinstance(value, Mapping):
            return {name: self._filled(inner) for name, inner in cast("Mapping[str, object]", value).items()}
        if isinstance(value, list):
            return [self._filled(inner) for inner in cast("list[object]", value)]
        filled = str(value).replace("{name}", SERVER_NAME).replace("{token}", TOKEN_VARIABLE)
        return filled.replace("{authorization}", AUTHORIZATION_VARIABLE).replace("{url}", self.url)


def remote_at(url: str) -> Remote:
    """Return the server at this URL.

    Raises:
        InvalidInputError: it is no URL of a server, or has something in it that clients would write down or send.
    """
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, is_whole = urlsplit(""), False
    # Some clients expand variables in their files, and some addresses end up on a command line.
    if not is_whole or not url.isascii() or not url.isprintable() or any(letter in url for letter in " {}$\"'`\\"):
        raise InvalidInputError(f"--url must be the URL of a server, such as {EXAMPLE}; got {without_keys(url)!r}.")
    if parts.username is not None or parts.query or parts.fragment:
        raise InvalidInputError(
            "--url must have no user, query or fragment. "
            f"The token comes from the variable {TOKEN_VARIABLE} and stands in no address."
        )
    return Remote(url)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner in cast("Mapping[str, object]", value).values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from _texts(inner)
    else:
        yield str(value)
