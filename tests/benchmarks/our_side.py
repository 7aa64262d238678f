"""A side of ours: an append, a whole turn, or the bare write that a turn is compared with.

Usage: python -m tests.benchmarks.our_side KIND SCRATCH TEXT DATABASE, then a number of messages on each line of the input.
"""

import os
import sys
from collections.abc import AsyncGenerator, Callable
from functools import partial
from pathlib import Path
from time import perf_counter, sleep
from typing import Protocol

import anyio
from anyio import to_thread
from tests.fixtures.providers import FakeProvider

from conversation_mcp.app import App
from conversation_mcp.bootstrap import open_app
from conversation_mcp.clock import utc_now
from conversation_mcp.conversations.dialogue import NewMessage
from conversation_mcp.providers.base import Answer, Event, Finished, Request, Started
from conversation_mcp.records.codec import encode
from conversation_mcp.records.message_ids import with_ids
from conversation_mcp.records.models import Conversation, ConversationId, Message, iso
from conversation_mcp.searching.stamped import SETTLED_AFTER
from conversation_mcp.settings import Settings
from conversation_mcp.stores.base import Store
from conversation_mcp.turns.ask import Ask, Caller


class Side(Protocol):
    """An operation on a conversation that can be repeated at the same size."""

    async def prepare(self, messages: int) -> None:
        """Have a conversation of so many messages on disk, with nothing left to be written."""
        ...

    async def operate(self) -> None:
        """Do what is timed."""
        ...


class Stored:
    """A conversation in a store, which can be put back to what it was."""

    def __init__(self, store: Store, text: str, *, has_ids: bool = False) -> None:
        self._store = store
        self._text = text
        self._has_ids = has_ids
        self._messages = -1
        self._before = b""
        self.conversation_id = ConversationId("")

    def is_of(self, messages: int) -> bool:
        """Tell whether it is put back to so many messages."""
        return messages == self._messages

    def keep(self, messages: int) -> None:
        """Have it put back to what it is now, which has so many messages."""
        self._before = Path(self._store.location(self.conversation_id)).read_bytes()
        self._messages = messages

    async def prepare(self, messages: int) -> None:
        """Put the conversation's file back, synced."""
        if not self.is_of(messages):
            self.conversation_id = await self._store.reserve()
            conversation = conversation_of(self.conversation_id, messages, self._text)
            if self._has_ids:
                conversation = conversation.changed(messages=with_ids(conversation.messages))
            await self._store.create(conversation)
            self._before, self._messages = encode(conversation), messages
        write_synced(Path(self._store.location(self.conversation_id)), self._before)


class StoredInDatabase:
    """A conversation in a store that keeps no file to put back: what was added is taken away again."""

    def __init__(self, store: Store, text: str) -> None:
        self._store = store
        self._text = text
        self._messages = -1
        self.conversation_id = ConversationId("")

    async def prepare(self, messages: int) -> None:
        """Have just so many messages there."""
        if messages == self._messages:
            await self._store.update(
                self.conversation_id, lambda stored, _: stored.changed(messages=stored.messages[:messages])
            )
            await self._store.load(self.conversation_id)  # while others are told of that
            return
        self.conversation_id, self._messages = await self._store.reserve(), messages
        await self._store.create(conversation_of(self.conversation_id, messages, self._text))


class Append:
    """One message added by the store, durably: to a file, which is written anew, or to a database."""

    def __init__(self, app: App, text: str) -> None:
        self._store = app.store
        self._stored = stored_by(app, text)
        self._text = text

    async def prepare(self, messages: int) -> None:
        await self._stored.prepare(messages)

    async def operate(self) -> None:
        await self._store.update(self._stored.conversation_id, partial(with_message, text=self._text))


class Log:
    """One message stored by a chatbot, as the tool does it: counted, given an id, and appended."""

    def __init__(self, app: App, text: str) -> None:
        self._dialogues = app.dialogues
        self._stored = Stored(app.store, text, has_ids=True)  # as the messages of a log have
        self._text = text

    async def prepare(self, messages: int) -> None:
        await self._stored.prepare(messages)

    async def operate(self) -> None:
        await self._dialogues.add(self._stored.conversation_id, [NewMessage("user", self._text)])


class Turn:
    """A whole follow-up; the provider answers at once."""

    def __init__(self, app: App, text: str) -> None:
        self._turns = app.turns
        self._stored = stored_by(app, text)
        self._ask = Ask(tool="search_followup", mode="search", question=text, preset="low")

    async def prepare(self, messages: int) -> None:
        await self._stored.prepare(messages)

    async def operate(self) -> None:
        result = await self._turns.follow_up(self._stored.conversation_id, self._ask, Caller(wait_seconds=60))
        assert result.status == "completed"


class Again:
    """A whole follow-up in a conversation that has the contents of many files already; a part names them again."""

    FILES, BYTES = 40, 4_000

    def __init__(self, app: App, text: str, *, names_files: bool) -> None:
        self._app, self._text = app, text
        self._folder = app.settings.roots[0]
        self._stored = Stored(app.store, text)
        self._named = tuple(map(str, self._paths())) if names_files else ()

    async def prepare(self, messages: int) -> None:
        """Have its files sent with a first question, and put the conversation back to what it was then."""
        if not self._stored.is_of(messages):
            await self._stored.prepare(messages - 2)
            await self._ask("The files.", *map(str, self._write()))
            self._stored.keep(messages)
        await self._stored.prepare(messages)

    async def operate(self) -> None:
        await self._ask(self._text, *self._named)

    async def _ask(self, question: str, *files: str) -> None:
        ask = Ask(tool="search_followup", mode="search", question=question, preset="low", files=files)
        result = await self._app.turns.follow_up(self._stored.conversation_id, ask, Caller(wait_seconds=60))
        assert result.status == "completed", result

    def _paths(self) -> list[Path]:
        return [self._folder / f"part{number % 4}" / f"module_{number}.py" for number in range(self.FILES)]

    def _write(self) -> list[Path]:
        for number, path in enumerate(self._paths()):
            path.parent.mkdir(parents=True, exist_ok=True)
            line = f"total_{number} = price * rate + {number}\n"
            path.write_text(line * (self.BYTES // len(line)), encoding="utf-8")
        sleep(2 * SETTLED_AFTER.total_seconds())  # else each file is read again, because it may have changed unnoticed
        return self._paths()


class BareWrite:
    """The bytes of the same conversation written, synced and renamed, and nothing else."""

    def __init__(self, app: App, text: str) -> None:
        self._path = app.settings.logs_dir / "bare" / "conversation.json"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._text = text
        self._data = b""

    async def prepare(self, messages: int) -> None:
        self._data = encode(conversation_of(ConversationId("20260101-1767225600000"), messages, self._text))

    async def operate(self) -> None:
        draft = self._path.with_suffix(".tmp")
        write_synced(draft, self._data)
        draft.replace(self._path)


class Instant(FakeProvider):
    """Answers at once with the whole answer; with `known_first` its run is known by an id before that."""

    def __init__(self, text: str, *, known_first: bool) -> None:
        super().__init__()
        self._text = text
        self._known_first = known_first

    async def ask(self, request: Request) -> AsyncGenerator[Event]:
        if self._known_first:
            yield Started("resp_1")
        yield Finished(Answer(content=self._text, model="test/one", preset=request.preset, response_id="resp_1"))


SIDES: dict[str, Callable[[App, str], Side]] = {
    "append": Append,
    "log": Log,
    "turn": Turn,
    "turn-known-first": Turn,
    "turn-beside-files": partial(Again, names_files=False),
    "turn-with-files": partial(Again, names_files=True),
    "bare-write": BareWrite,
}


def stored_by(app: App, text: str) -> Stored | StoredInDatabase:
    """Return a conversation in the store of the program."""
    return (StoredInDatabase if app.settings.store else Stored)(app.store, text)


def with_message(stored: Conversation, now: str, text: str) -> Conversation:
    """Add a question."""
    return stored.changed(messages=(*stored.messages, Message(role="user", content=text, created_at=now)))


def write_synced(path: Path, data: bytes) -> None:
    """Write the bytes so that nothing is left for a later sync."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def conversation_of(conversation_id: ConversationId, messages: int, text: str) -> Conversation:
    """Return a conversation of so many messages, questions and answers in turn."""
    now = iso(utc_now())
    return Conversation(
        conversation_id=conversation_id,
        created_at=now,
        updated_at=now,
        message_count=messages,
        messages=tuple(
            Message(role="assistant" if number % 2 else "user", content=text, created_at=now)
            for number in range(messages)
        ),
    )


async def serve(kind: str, scratch: Path, text: str, database: str) -> None:
    """Time one operation for each line of the input; the loop is free meanwhile, as it is in the server."""
    roots = (scratch / f"{kind}-files",)
    settings = Settings(
        logs_dir=scratch / kind,
        store=database or None,
        prompts_dir=scratch / "prompts",
        roots=roots,
        max_messages_per_minute=1_000_000,
    )
    provider = Instant(text, known_first=kind == "turn-known-first")
    async with open_app(settings, providers=(provider,)) as app:
        side = SIDES[kind](app, text)
        print("ready", flush=True)
        while line := await to_thread.run_sync(sys.stdin.readline):
            await side.prepare(int(line))
            started = perf_counter()
            await side.operate()
            print((perf_counter() - started) * 1000, flush=True)


def main() -> None:
    """Serve the side that the arguments name."""
    kind, scratch, text, database = sys.argv[1:]
    anyio.run(serve, kind, Path(scratch), text, database)


if __name__ == "__main__":
    main()
