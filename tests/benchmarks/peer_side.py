"""A side of a peer, run by the interpreter that the peers are installed for, without anything of ours.

Usage: peer_side.py KIND SCRATCH TEXT DATABASE, then a number of messages on each line of the input.
"""

import asyncio
import json
import logging
import os
import sys
import warnings
from pathlib import Path
from pkgutil import resolve_name
from time import perf_counter
from typing import Any, Protocol


class Side(Protocol):
    """An append that can be repeated at the same size."""

    async def prepare(self, messages: int) -> None:
        """Have a conversation of so many messages on disk, with nothing left to be written."""
        ...

    async def append(self) -> None:
        """Add one message; this is what is timed."""
        ...

    def settle(self) -> None:
        """Leave nothing unsynced that the next side would pay for."""
        ...


class FileHistory:
    """LangChain's history in a JSON file."""

    def __init__(self, scratch: Path, text: str, _database: str) -> None:
        history: Any = resolve_name("langchain_community.chat_message_histories.file:FileChatMessageHistory")
        message: Any = resolve_name("langchain_core.messages:HumanMessage")
        self._to_dict: Any = resolve_name("langchain_core.messages:messages_to_dict")
        self._path = scratch / "langchain.json"
        self._history = history(str(self._path))
        self._message = message(content=text)
        self._messages = -1
        self._before = b""

    async def prepare(self, messages: int) -> None:
        if messages != self._messages:
            self._before = json.dumps(self._to_dict([self._message] * messages)).encode()
            self._messages = messages
        self._path.write_bytes(self._before)
        self.settle()

    async def append(self) -> None:
        self._history.add_message(self._message)

    def settle(self) -> None:
        with self._path.open("rb+") as file:
            os.fsync(file.fileno())


class Session:
    """The session of OpenAI Agents in an SQLite file."""

    def __init__(self, scratch: Path, text: str, _database: str) -> None:
        self._open: Any = resolve_name("agents.memory.sqlite_session:SQLiteSession")
        self._path = scratch / "session.db"
        self._item = {"role": "user", "content": text}
        self._session: Any = None
        self._messages = -1

    async def prepare(self, messages: int) -> None:
        if messages == self._messages:
            await self._session.pop_item()
            return
        self._session = self._open(f"{messages} messages", self._path)
        await self._session.add_items([self._item] * messages)
        self._messages = messages

    async def append(self) -> None:
        await self._session.add_items([self._item])

    def settle(self) -> None:
        """Do nothing: every append is synced."""


class TableHistory:
    """LangChain's history in a table of PostgreSQL."""

    def __init__(self, _scratch: Path, text: str, database: str) -> None:
        self._open: Any = resolve_name("langchain_community.chat_message_histories.postgres:PostgresChatMessageHistory")
        self._message = resolve_name("langchain_core.messages:HumanMessage")(content=text)
        self._database = database
        self._history: Any = None
        self._messages = -1

    async def prepare(self, messages: int) -> None:
        if messages == self._messages:
            last = "SELECT max(id) FROM message_store WHERE session_id = %s"
            self._history.cursor.execute(f"DELETE FROM message_store WHERE id = ({last})", (self._history.session_id,))
            self._history.connection.commit()
            return
        self._history = self._open(f"{messages} messages", self._database)
        for _ in range(messages):
            self._history.add_message(self._message)
        self._messages = messages

    async def append(self) -> None:
        self._history.add_message(self._message)

    def settle(self) -> None:
        """Do nothing: every append is synced."""


class TableSession:
    """The session of OpenAI Agents in tables of PostgreSQL."""

    def __init__(self, _scratch: Path, text: str, database: str) -> None:
        self._open: Any = resolve_name("agents.extensions.memory.sqlalchemy_session:SQLAlchemySession.from_url")
        resolve_name("psycopg")
        self._url = database.replace("postgresql:", "postgresql+psycopg:")
        self._item = {"role": "user", "content": text}
        self._session: Any = None
        self._messages = -1

    async def prepare(self, messages: int) -> None:
        if messages == self._messages:
            await self._session.pop_item()
            return
        self._session = self._open(f"{messages} messages", url=self._url, create_tables=True)
        await self._session.add_items([self._item] * messages)
        self._messages = messages

    async def append(self) -> None:
        await self._session.add_items([self._item])

    def settle(self) -> None:
        """Do nothing: every append is synced."""


SIDES: dict[str, type[FileHistory] | type[Session] | type[TableHistory] | type[TableSession]] = {
    "langchain": FileHistory,
    "sqlite": Session,
    "langchain-postgresql": TableHistory,
    "sqlalchemy-postgresql": TableSession,
}


async def serve(side: Side) -> None:
    """Time one append for each line of the input."""
    print("ready", flush=True)
    for line in sys.stdin:
        await side.prepare(int(line))
        started = perf_counter()
        await side.append()
        milliseconds = (perf_counter() - started) * 1000
        side.settle()
        print(milliseconds, flush=True)


def main() -> None:
    """Serve the side that the arguments name."""
    warnings.simplefilter("ignore")
    logging.disable()
    kind, scratch, text, database = sys.argv[1:]
    try:
        side = SIDES[kind](Path(scratch), text, database)
    except ImportError as error:
        sys.exit(f"{kind} is left out: {error}")
    asyncio.run(serve(side))


if __name__ == "__main__":
    main()
