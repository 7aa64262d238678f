"""Connections to the database, and the transactions that all work is done in."""

import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import BoundedSemaphore
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus

from conversation_mcp.cancellation import in_thread
from conversation_mcp.errors import DatabaseError, InvalidInputError
from conversation_mcp.owners import LOCAL
from conversation_mcp.stores.postgresql.faults import explained, problem_of
from conversation_mcp.stores.postgresql.schema import require_schema

T = TypeVar("T")
Connection = psycopg.Connection[tuple[Any, ...]]
Work = Callable[[Connection], T]

MAX_CONNECTIONS = 10
WAIT_SECONDS = 30.0
"""For one of them."""
PATIENCE = {"connect_timeout": 10, "keepalives_idle": 10, "keepalives_interval": 5, "tcp_user_timeout": 30_000}
"""How long a host may be silent, in seconds, and in milliseconds what was sent unacknowledged; the URL may differ."""
TRIES = 4
PASSING = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)
OWNER_IS = "SELECT set_config('conversation_mcp.owner', %s, true)"
AS_OWNER = f"{OWNER_IS}, set_config('synchronous_commit', %s, true)"


class InDoubtError(Exception):
    """The connection broke after a statement was sent that is a transaction of its own: it may have been done."""

    def __init__(self, reported: DatabaseError) -> None:
        super().__init__(reported)
        self.reported = reported
        """What is said if it cannot be found out."""


class Database:
    """One owner's part of a database. Every call blocks; connections are made when needed and used again."""

    def __init__(self, url: str, owner: str, *, is_durable: bool = True) -> None:
        self.owner = owner
        self.place = place_of(url, owner)
        self._url = url
        self.commits = "on" if is_durable else "off"
        """Whether a commit waits for the disk, as the database calls it."""
        self._idle: list[Connection] = []
        self._free = BoundedSemaphore(MAX_CONNECTIONS)
        self._is_checked = False
        weakref.finalize(self, close, self._idle)

    def location(self, conversation_id: str) -> str:
        """Return what is shown to a person as the place of the conversation."""
        return f"{self.place}/{conversation_id}"

    def run(self, work: Work[T], *, is_durable: bool = True) -> T:
        """Do the work in a transaction of the owner, again if another transaction or a broken connection undid it.

        Nothing is tried again once the commit was sent, because it may have been done. Unless it is durable, a crash of
        the database within a second may undo it.

        Raises:
            DatabaseError: the database cannot do it.
        """
        with explained(self.place), self._room():
            commits = self.commits if is_durable else "off"
            connection, result = self._tried(partial(self._begun, work=work, commits=commits))
            try:
                connection.commit()
            finally:
                self._give_back(connection)
            return result

    def call(self, statement: bytes, values: Sequence[object]) -> tuple[Any, ...] | None:
        """Send a statement that names the owner itself and is a transaction of its own, and return its first row.

        It costs one journey to the database and back.

        Raises:
            InDoubtError: the connection broke meanwhile.
            DatabaseError: the database cannot do it.
        """
        self._check()
        with explained(self.place), self._room():
            connection, row = self._tried(lambda each: self._sent(each, statement, values))
            self._give_back(connection)
            return row

    async def ask(self, work: Work[T]) -> T:
        """Do the work in a thread."""
        return await in_thread(self.run, work)

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return what a statement finds that only reads, and whose first value is the owner."""
        return self.look(sql, (self.owner, *values))

    def first(self, sql: str, *values: object) -> tuple[Any, ...] | None:
        """Return the first row of it."""
        found = self.rows(sql, *values)
        return found[0] if found else None

    def look(self, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Return what a statement finds that only reads; it costs one journey to the database and back."""
        return self.do(sql, values)

    def do(self, sql: str, values: Sequence[object], *, is_durable: bool = True) -> list[tuple[Any, ...]]:
        """Do what a statement says, in one journey to the database and back, and return its rows.

        If the connection breaks it is done again, although it may have been done: twice must be as good as once.
        """
        self._check()
        commits = self.commits if is_durable else "off"
        with explained(self.place), self._room():
            connection, found = self._tried(lambda each: self._done(each, sql, (self.owner, commits, *values)))
            self._give_back(connection)
            return found

    @contextmanager
    def _room(self) -> Generator[None]:
        if not self._free.acquire(timeout=WAIT_SECONDS):
            raise DatabaseError(self.place, "all connections to the database are busy")
        try:
            yield
        finally:
            self._free.release()

    def _tried(self, step: Work[T]) -> tuple[Connection, T]:
        """Take the step, again if another transaction or a broken connection undid it."""
        for attempt in range(1, TRIES + 1):
            connection, is_new = self._take()
            is_done = False
            try:
                result = step(connection)
                is_done = True
            except PASSING:
                if attempt == TRIES:
                    raise
            except (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction) as error:
                was_lost = connection.broken or isinstance(error, psycopg.errors.ReadOnlySqlTransaction)
                if is_new or not was_lost:
                    raise
                connection.close()  # where it leads is no longer the server that takes writes
                close(self._idle)  # they were made before the database went away, too
            else:
                return connection, result
            finally:
                if not is_done:
                    self._give_back(connection)
        raise AssertionError

    def _begun(self, connection: Connection, work: Work[T], commits: str) -> T:
        with psycopg.ClientCursor(connection) as cursor:  # which sends both statements at once
            cursor.execute(f"BEGIN; {AS_OWNER}".encode(), (self.owner, commits))
        if not self._is_checked:
            require_schema(connection, self.place)
            self._is_checked = True
        return work(connection)

    def _check(self) -> None:
        if not self._is_checked:
            self.run(lambda _: None)

    def _done(self, connection: Connection, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with psycopg.ClientCursor(connection) as cursor:  # which sends both statements at once, as one transaction
            cursor.execute(f"{AS_OWNER}; {sql}".encode(), values)
            cursor.nextset()
            return cursor.fetchall() if cursor.description else []

    def _sent(self, connection: Connection, statement: bytes, values: Sequence[object]) -> tuple[Any, ...] | None:
        try:
            return connection.execute(statement, values).fetchone()
        except psycopg.OperationalError as error:
            if connection.broken:
                close(self._idle)
                raise InDoubtError(DatabaseError(self.place, problem_of(error))) from error
            raise

    def _take(self) -> tuple[Connection, bool]:
        try:
            return self._idle.pop(), False
        except IndexError:
            return connect(self._url), True

    def _give_back(self, connection: Connection) -> None:
        if connection.pgconn.transaction_status not in (TransactionStatus.IDLE, TransactionStatus.UNKNOWN):
            connection.rollback()
        if connection.closed:
            connection.close()
        else:
            self._idle.append(connection)


def connect(url: str) -> Connection:
    """Connect, with nothing that a transaction pooler could not keep: no statement is prepared.

    Each statement is a transaction of its own unless one is begun. Texts go as UTF-8, whatever the database
    keeps them in.
    """
    own = conninfo_to_dict(url)
    missing = {name: value for name, value in PATIENCE.items() if name not in own}
    settings = make_conninfo(url, **missing, client_encoding="UTF8")
    return psycopg.connect(settings, prepare_threshold=None, autocommit=True)


def close(connections: list[Connection]) -> None:
    """Close them all."""
    while connections:
        connections.pop().close()


def place_of(url: str, owner: str = LOCAL) -> str:
    """Return the address of the database without user and password, and the owner's part of it.

    Raises:
        InvalidInputError: it is no address of a database.
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise InvalidInputError("the store must be a URL such as postgresql://user@host/database.") from None
    port = f":{parts['port']}" if parts.get("port") else ""
    host = str(parts.get("host") or "").rstrip("/")
    place = f"postgresql://{'' if host.startswith('/') else host}{port}/{parts.get('dbname') or ''}"
    return place if owner == LOCAL else f"{place}/.owners/{owner}"
