"""Everything that is kept of a user, as files of an archive that explains itself."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from anyio import to_thread
from pydantic.alias_generators import to_camel

from conversation_mcp.conversations.prices import Prices
from conversation_mcp.conversations.statistics import COST_DIGITS, Sums, turns_of
from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError
from conversation_mcp.exporting.markdown import MARKDOWN
from conversation_mcp.records.codec import decode, encode
from conversation_mcp.records.facts import described, moment_of
from conversation_mcp.records.layout import CONVERSATIONS, DELETED, FILE_NAME, FILES, USER_FILE
from conversation_mcp.records.models import ConversationId, iso
from conversation_mcp.records.plain import read_data
from conversation_mcp.records.transcript import contents_named_in
from conversation_mcp.stores.base import Store, Trashed
from conversation_mcp.text import counted

README = """# The data of {owner}

What conversation-mcp kept of this user on {moment}: {counts}.

- `{conversations}/ID/{file_name}`: a conversation, byte for byte as it is kept. `conversation.md` beside it is for
  reading.
- `{conversations}/ID/{files}/`: the files and images that its questions named, each under its SHA-256; the questions in
  `{file_name}` say under which path they were read.
- `{deleted}/`: conversations in the trash, in the same form.
- `memories.json`: what is remembered, with the conversation that each memory belongs to.
- `facts.json`: title, times, tags, state and cost of each conversation.
- `costs.json`: each answer with its provider, model, tokens and cost, and the sums.
- `{user_file}`: whose data this is, when and by which version it was written, and what could not be read.
- `SHA256SUMS`: the checksums of all other files; `sha256sum --check SHA256SUMS` compares them.

`conversation-mcp import FILE.zip` brings the conversations in again. Indexes and vectors are not here: they are made
from the conversations and hold nothing else.
"""
UNSHOWN = frozenset({"updated_milliseconds", "created_milliseconds", "milliseconds"})
"""The same as times."""

GetContents = Callable[[Collection[str]], Awaitable[Mapping[str, bytes]]]


class UserFile(NamedTuple):
    """A file of the archive."""

    name: str
    data: bytes


class UserData:
    """Reads what is kept of a user, one conversation at a time; what cannot be read is a problem and stays as it is."""

    def __init__(self, owner: str, store: Store, prices: Prices, now: Callable[[], datetime], version: str) -> None:
        self._owner = owner
        self._store = store
        self._prices = prices
        self._now = now
        self._version = version
        self._facts: list[dict[str, Any]] = []
        self._memories: list[dict[str, Any]] = []
        self._turns: list[dict[str, Any]] = []
        self._sums = Sums()
        self.ids: list[str] = []
        self.trashed_count = self.file_count = 0
        self.problems: list[str] = []

    async def files(self) -> AsyncGenerator[UserFile]:
        """Yield the files: first what the conversations hold, then what is known of all of them.

        Raises:
            FilesystemError: the place itself cannot be read.
        """
        for conversation_id in await to_thread.run_sync(self._store.finder.ids):
            async for file in self._conversation(conversation_id):
                yield file
        for trashed in await self._store.trash.entries():
            async for file in self._trashed(trashed):
                yield file
        for file in self._about_all():
            yield file

    async def _conversation(self, conversation_id: ConversationId) -> AsyncGenerator[UserFile]:
        finder, attachments = self._store.finder, self._store.attachments
        try:
            body = await to_thread.run_sync(finder.read, conversation_id)
            kept = await attachments.sizes(conversation_id)
        except ConversationNotFoundError:
            return  # it was deleted meanwhile, and may be in the trash
        except ConversationMCPError as error:
            self.problems.append(error.message)
            return
        read = _Read(f"{CONVERSATIONS}/{conversation_id}", conversation_id, body, finder.location(conversation_id))
        async for file in self._files_of(read, kept, lambda names: attachments.get(conversation_id, names)):
            yield file

    async def _trashed(self, trashed: Trashed) -> AsyncGenerator[UserFile]:
        trash = self._store.trash
        try:
            body = encode(await trash.load(trashed))
        except ConversationNotFoundError:
            return
        except ConversationMCPError as error:
            self.problems.append(error.message)
            return
        self.trashed_count += 1
        # With a number, because the same conversation may be in the trash several times.
        folder = f"{DELETED}/{trashed.conversation_id}.{self.trashed_count}"
        read = _Read(folder, trashed.conversation_id, body, trashed.location, trashed.deleted_at)
        async for file in self._files_of(read, (), lambda names: trash.contents(trashed, names)):
            yield file

    async def _files_of(self, read: "_Read", kept: Iterable[str], get: GetContents) -> AsyncGenerator[UserFile]:
        self.ids.append(read.conversation_id)
        yield UserFile(f"{read.folder}/{FILE_NAME}", read.body)
        named: frozenset[str] = frozenset()
        try:
            named, page = await to_thread.run_sync(self._take_in, read)
        except ConversationMCPError as error:
            self.problems.append(error.message)
        else:
            yield UserFile(f"{read.folder}/conversation.md", page)
        for name in sorted({*named, *kept}):  # one at a time: together they may not fit in memory
            found = await get([name])
            for data in found.values():
                self.file_count += 1
                yield UserFile(f"{read.folder}/{FILES}/{name}", data)
            if not found:
                self.problems.append(f"{read.conversation_id}: the content {name} is missing or damaged")

    def _take_in(self, read: "_Read") -> tuple[frozenset[str], bytes]:
        """Note what is known of the conversation, and return the contents that it names and its page."""
        conversation = decode(read.body, read.location, read.conversation_id)
        data = read_data(read.body, read.location, read.conversation_id)
        indexed, place = described(data, read.conversation_id, len(read.body)), {"conversationId": read.conversation_id}
        deleted = {"deletedAt": read.deleted_at} if read.deleted_at else {}
        self._facts.append({**_data(indexed.facts._asdict()), **deleted})
        self._memories += [{**place, **_data(memory._asdict()), **deleted} for memory in indexed.memories]
        for turn in turns_of(data, self._prices):
            self._sums.add(turn)
            self._turns.append({**place, "at": iso(moment_of(turn.milliseconds)), **_data(turn._asdict())})
        page = MARKDOWN.render(conversation).encode("utf-8", "replace")
        return frozenset(contents_named_in(conversation)), page

    def _about_all(self) -> Iterator[UserFile]:
        moment = iso(self._now())
        user = {"user": self._owner, "exportedAt": moment, "version": self._version, "problems": self.problems}
        yield UserFile(USER_FILE, _json(user))
        yield UserFile("facts.json", _json(self._facts))
        yield UserFile("memories.json", _json(self._memories))
        yield UserFile("costs.json", _json({"total": self._sums.data(), "turns": self._turns}))
        counts = ", ".join((*self.counts(), counted(len(self.problems), "problem")))
        names = {"conversations": CONVERSATIONS, "files": FILES, "file_name": FILE_NAME, "deleted": DELETED}
        text = README.format(owner=self._owner, moment=moment, counts=counts, user_file=USER_FILE, **names)
        yield UserFile("README.md", text.encode())

    def figures(self) -> dict[str, int]:
        """Return how much was read so far."""
        return {
            "conversationCount": len(self.ids) - self.trashed_count,
            "trashedCount": self.trashed_count,
            "fileCount": self.file_count,
            "memoryCount": len(self._memories),
        }

    def counts(self) -> tuple[str, ...]:
        """Return in words how much was read so far."""
        return (
            counted(len(self.ids) - self.trashed_count, "conversation"),
            f"{self.trashed_count:,} in the trash",
            counted(self.file_count, "file"),
            f"{len(self._memories):,} {'memory' if len(self._memories) == 1 else 'memories'}",
        )


class _Read(NamedTuple):
    """A conversation that was read, and the folder of the archive that it goes to."""

    folder: str
    conversation_id: ConversationId
    body: bytes
    location: str
    deleted_at: str | None = None


def _data(facts: Mapping[str, object]) -> dict[str, object]:
    """Return what is known, under the names that JSON has elsewhere."""
    known = {to_camel(name): value for name, value in facts.items() if value is not None and name not in UNSHOWN}
    return {name: round(value, COST_DIGITS) if isinstance(value, float) else value for name, value in known.items()}


def _json(data: object) -> bytes:
    return f"{json.dumps(data, ensure_ascii=False, indent=2)}\n".encode("utf-8", "replace")
