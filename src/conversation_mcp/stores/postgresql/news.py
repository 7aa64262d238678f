"""News over a database: one connection of each process listens, unless a pooler stands between."""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

import psycopg

from conversation_mcp.stores.news import NewsHub, NewsLostError, NoNewsError
from conversation_mcp.stores.postgresql.connections import connect

CHANNEL = "conversation_mcp"
BEGIN = "SET synchronous_commit = off"
"""Commits of notices queue for one lock of the server, and none has to survive a crash."""
PID = "SELECT pg_backend_pid()"
TELL = f"SELECT pg_notify('{CHANNEL}', notice) FROM unnest(%s::text[]) AS notice"


class ListeningConnection:
    """Satisfies Listening."""

    def __init__(self, url: str) -> None:
        with _noticed():
            self._connection = connect(url)
            self._notices: list[str] = []
            self._connection.add_notify_handler(lambda notice: self._notices.append(notice.payload))
            found = self._connection.execute(PID).fetchone()
            if found is None or found[0] != self._connection.info.backend_pid:
                self.close()
                raise NoNewsError  # another connection of the pooler may serve this one next time
            self._connection.execute(BEGIN)
            self._connection.execute(f"LISTEN {CHANNEL}".encode())

    def fileno(self) -> int:
        """Return the socket."""
        return self._connection.pgconn.socket

    def heard(self) -> Iterable[str]:
        """Read what has come, and take what came while something was told."""
        with _noticed():
            self._connection.pgconn.consume_input()
            while notice := self._connection.pgconn.notifies():
                self._notices.append(notice.extra.decode())
        taken, self._notices = self._notices, []
        return taken

    def tell(self, notices: Sequence[str]) -> None:
        """Notify the channel."""
        with _noticed():
            self._connection.execute(TELL, ([*notices],))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def build(url: str) -> NewsHub:
    """Make the hub of a process."""
    return NewsHub(lambda: ListeningConnection(url))


@contextmanager
def _noticed() -> Generator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise NewsLostError from error
