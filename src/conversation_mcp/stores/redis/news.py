"""News over a server: a connection of each process that subscribes to a channel, and one that publishes there."""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

from redis import exceptions

from conversation_mcp.stores.news import NewsHub, NewsLostError, NoNewsError
from conversation_mcp.stores.redis.keyspace import PREFIX, WAIT_SECONDS, client_of

CHANNEL = f"{PREFIX}:news"


class Subscription:
    """Satisfies Listening."""

    def __init__(self, url: str) -> None:
        self._client = client_of(url)
        self._messages: Any = self._client.pubsub()
        with _noticed():
            self._messages.subscribe(CHANNEL)
            self._messages.get_message(timeout=WAIT_SECONDS)  # that it has subscribed, or may not

    def fileno(self) -> int:
        """Return the socket."""
        return self._messages.connection._sock.fileno()  # noqa: SLF001 -- the driver waits for nothing else meanwhile

    def heard(self) -> Iterable[str]:
        """Read what has come."""
        taken: list[str] = []
        with _noticed():
            while message := self._messages.get_message():
                taken += message["data"].decode().split()
        return taken

    def tell(self, notices: Sequence[str]) -> None:
        """Publish them in one message."""
        with _noticed():
            self._client.publish(CHANNEL, " ".join(notices))

    def close(self) -> None:
        """Close both connections."""
        self._messages.close()
        self._client.close()


def build(url: str) -> NewsHub:
    """Make the hub of a process."""
    return NewsHub(lambda: Subscription(url))


@contextmanager
def _noticed() -> Generator[None]:
    try:
        yield
    except exceptions.NoPermissionError as error:
        raise NoNewsError from error
    except (exceptions.RedisError, OSError) as error:
        raise NewsLostError from error
