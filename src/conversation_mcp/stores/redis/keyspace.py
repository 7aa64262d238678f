"""One owner's part of a server: its keys, and the connections to it."""

import re
import weakref
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

from anyio import to_thread
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, NoScriptError  # noqa: A004 -- as the driver calls it
from redis.retry import Retry

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.owners import LOCAL
from conversation_mcp.stores.redis.faults import explained
from conversation_mcp.stores.redis.scripts import Script, scripts

DATABASE = re.compile(r"/?|/[0-9]+")
OPTIONS = {"client_name", "ssl_ca_certs", "ssl_cert_reqs", "ssl_certfile", "ssl_check_hostname", "ssl_keyfile"}
"""What may follow the address; the driver knows more that would change what the store relies on."""
PREFIX = "conversation-mcp"
PROTOCOLS = {"redis": "redis", "rediss": "rediss", "valkey": "redis", "valkeys": "rediss"}
"""The schemes of addresses, by what the driver calls them."""
WAIT_SECONDS = 10
OWNERS = f"{PREFIX}:owners"
AGES = f"{PREFIX}:ages"
"""For how long the conversations of owners are kept who have said so."""
OF_OWNER = ("tick", "changes", "ids", "ends", "reserved", "trash", "marks", "calls", "stops")
"""The keys that every script gets after the one of all owners, in this order."""

REPEATABLE = frozenset({"current", "find", "is_held", "listed", "note", "owners", "put", "renew", "standing", "write"})
"""The scripts that do the same if they are run again because a connection broke before their answer came."""


class Keyspace:
    """The keys of one owner. Every call blocks and raises DatabaseError if the server cannot do it.

    Who only reads needs no lifetime.
    """

    def __init__(self, url: str, owner: str, lifetime: timedelta | None = None) -> None:
        self.owner = owner
        self._lifetime_milliseconds = (lifetime or timedelta()) // timedelta(milliseconds=1)
        self.place = place_of(url, owner)
        self._url = url
        self._client = client_of(url)
        weakref.finalize(self, self._client.connection_pool.disconnect)

    def location(self, conversation_id: str) -> str:
        """Return what is shown to a person as the place of the conversation."""
        return f"{self.place}/{conversation_id}"

    def key(self, kind: str, name: str = "") -> str:
        """Return the key of the owner's only one of that kind, or of the one with that name."""
        return f"{PREFIX}:{{{self.owner}}}:{kind}{':' if name else ''}{name}"

    def conversation(self, conversation_id: str) -> str:
        """Return the key of a conversation."""
        return self.key("conversation", conversation_id)

    def run(self, name: str, keys: Sequence[str], *values: str | float | bytes) -> Any:  # noqa: ANN401 -- as it answers
        """Run a script; it also gets the keys that all get, and the owner and the lifetime of conversations."""
        script = scripts()[name]
        given = [OWNERS, *map(self.key, OF_OWNER), *keys]
        arguments = (len(given), *given, self.owner, self._lifetime_milliseconds, *values)
        with explained(self.place):
            try:
                return self._evaluate(script, arguments)
            except ConnectionError as error:
                if type(error) is not ConnectionError or name not in REPEATABLE:
                    raise
                return self._evaluate(script, arguments)

    async def ask(self, name: str, keys: Sequence[str], *values: str | float | bytes) -> Any:  # noqa: ANN401
        """Run a script in a thread."""
        return await to_thread.run_sync(partial(self.run, name, keys, *values))

    def command(self, *words: str | float | bytes) -> Any:  # noqa: ANN401 -- as the server answers
        """Run a command."""
        with explained(self.place):
            return self._client.execute_command(*words)

    def commands(self, commands: Sequence[Sequence[str | float | bytes]]) -> list[Any]:
        """Run commands that read, one after the other, and return their answers."""
        if not commands:
            return []
        with explained(self.place), self._client.pipeline(transaction=False) as pipeline:
            for words in commands:
                pipeline.execute_command(*words)
            return pipeline.execute()

    def _evaluate(self, script: Script, arguments: tuple[str | float | bytes, ...]) -> Any:  # noqa: ANN401
        try:
            return self._client.execute_command("EVALSHA", script.sha, *arguments)
        except NoScriptError:
            return self._client.execute_command("EVAL", script.text, *arguments)

    def as_owner(self, owner: str, lifetime: timedelta | None = None) -> "Keyspace":
        """Return another owner's part of the same server."""
        return Keyspace(self._url, owner, lifetime)


def client_of(url: str) -> Any:  # noqa: ANN401 -- the types of the driver are incomplete
    """Make a client, which connects when it is used.

    Raises:
        InvalidInputError: it is no address of a server.
    """
    driver: Any = Redis
    scheme, _, rest = url.partition(":")
    try:
        return driver.from_url(
            f"{PROTOCOLS[scheme.lower()]}:{rest}",
            socket_timeout=WAIT_SECONDS,
            socket_connect_timeout=WAIT_SECONDS,
            retry=Retry(NoBackoff(), 0),  # a write whose answer was lost may have been done
        )
    except ValueError:
        raise _malformed() from None


def place_of(url: str, owner: str = LOCAL) -> str:
    """Return the address of the server without user and password, and the owner's part of it.

    Raises:
        InvalidInputError: it is no address of a server.
    """
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        raise _malformed() from None
    if not DATABASE.fullmatch(parts.path) or not parse_qs(parts.query, keep_blank_values=True).keys() <= OPTIONS:
        raise _malformed()
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or "localhost"
    place = f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"
    return place if owner == LOCAL else f"{place}/.owners/{owner}"


def _malformed() -> InvalidInputError:
    return InvalidInputError("the store must be a URL such as redis://user:password@host:6379/0.")
