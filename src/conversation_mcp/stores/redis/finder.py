"""The finder: it asks an index in the memory of this process, brought up to date from the server."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, cast

from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError
from conversation_mcp.records.facts import describe
from conversation_mcp.records.found import Listed, MemoryPage, Page, Place, Wanted, WantedMemories, with_state
from conversation_mcp.records.ids import check_id, milliseconds_of
from conversation_mcp.records.plain import Data, read_data
from conversation_mcp.stores.finder import pages
from conversation_mcp.stores.headway import Headway
from conversation_mcp.stores.redis.contents import ContentFields
from conversation_mcp.stores.redis.index import MemoryIndex
from conversation_mcp.stores.redis.inspector import KeyspaceInspector
from conversation_mcp.stores.redis.keyspace import Keyspace
from conversation_mcp.stores.redis.stamped import VersionedConversations
from conversation_mcp.stores.redis.trash import names_in_trash, trashed_key

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId

READ_AT_ONCE = 20
ALL = 1_000_000_000


class KeyspaceFinder:
    """Finds an owner's conversations on the server; satisfies Finder."""

    def __init__(self, keyspace: Keyspace, now: Callable[[], datetime]) -> None:
        self._keyspace = keyspace
        self._conversations = VersionedConversations(keyspace)
        self._index = MemoryIndex(self._conversations, now)
        self._seen: Sequence[object] = ()
        """What the server told of itself when the index was up to date last."""

    @property
    def place(self) -> str:
        """The address of the server, without user and password."""
        return self._keyspace.place

    @property
    def folder(self) -> None:
        """None: it is no folder."""

    @property
    def index(self) -> None:
        """None: nobody but this process sees its index."""

    @property
    def turns(self) -> None:
        """None: words alone are searched for."""

    @property
    def remembered(self) -> None:
        """None, for the same reason."""

    @property
    def attachments(self) -> ContentFields:
        """The contents, in the hashes of their conversations."""
        return ContentFields(self._keyspace)

    @property
    def inspector(self) -> KeyspaceInspector:
        """The inspector of the server."""
        return KeyspaceInspector(self._keyspace)

    def location(self, conversation_id: str) -> str:
        """Return the address of the conversation."""
        return self._keyspace.location(check_id(conversation_id))

    def refresh(self, headway: Headway) -> None:
        """Read what was written since the last time, and drop what was forgotten, if there is any of either."""
        now = self._keyspace.run("standing", [])
        if now != self._seen:
            self._index.compare(headway)
            if not headway.is_stopped:
                self._seen = now

    def take_in_written(self) -> None:
        """Do nothing: the index is brought up to date when it is asked."""

    def page(self, wanted: Wanted, limit: int, place: Place | None = None, around: object = None) -> Page:
        """Return the next conversations after a place; words alone are searched for."""
        del around
        self.refresh(Headway())
        return self._index.page(wanted, limit, place)

    def memories(self, wanted: WantedMemories, limit: int, skip: int = 0) -> MemoryPage:
        """Return the next memories."""
        self.refresh(Headway())
        return self._index.memories(wanted, limit, skip)

    def newest(self, limit: int | None = None, begins: str = "", *, archived: bool = False) -> Page:
        """Return the newest."""
        wanted = Wanted(state="archived" if archived else None)
        if not begins:
            return self.page(wanted, ALL if limit is None else limit)._replace(next=None)
        page = self.page(wanted, ALL)
        found = (facts for facts in page.found if facts.conversation_id.startswith(begins))
        return page._replace(found=tuple(islice(found, limit)))

    def every_newest(self, limit: int | None, headway: Headway) -> Iterator[Page]:
        """Yield pages of the newest."""
        return pages(self, Wanted(), limit, None, headway)

    def largest(self, limit: int | None = None) -> Page:
        """Return those with the most bytes."""
        page = self.newest()
        found = sorted(page.found, key=lambda facts: (-facts.size_bytes, facts.conversation_id))
        return page._replace(found=tuple(found[:limit]))

    def ids(self, begins: str = "") -> "list[ConversationId]":
        """Return the ids that begin so."""
        names = sorted(name for name, _ in self._conversations.versions() if name.startswith(begins))
        return [cast("ConversationId", name) for name in names]

    def facts(self, ids: "Iterable[ConversationId]") -> Iterator[Listed]:
        """Read these, some at a time."""
        waiting = iter(ids)
        while batch := list(islice(waiting, READ_AT_ONCE)):
            bodies = self._keyspace.commands([("HGET", self._keyspace.conversation(name), "body") for name in batch])
            for name, body in zip(batch, bodies, strict=True):
                try:
                    described = describe(body, self.location(name), name) if body is not None else None
                except ConversationMCPError:
                    continue
                if described:
                    yield with_state(described.facts, self.is_being_answered)

    def known(self, conversation_id: "ConversationId") -> Listed | None:
        """Ask the index of this process, and compare the version on the server with the one that it has."""
        return self._index.known(conversation_id)

    def contents(
        self, headway: Headway, problems: list[str], written_since: datetime | None = None
    ) -> "Iterator[tuple[ConversationId, Data]]":
        """Read what is stored and what is in the trash, some at a time."""
        since = 0 if written_since is None else milliseconds_of(written_since)
        live = ((name, self._keyspace.conversation(name)) for name in self.ids())
        trashed = ((name, trashed_key(self._keyspace, name)) for name in names_in_trash(self._keyspace))
        all_keys = [*live, *trashed]
        headway.total = len(all_keys)
        for start in range(0, len(all_keys), READ_AT_ONCE):
            batch = all_keys[start : start + READ_AT_ONCE]
            found = self._keyspace.commands([("HMGET", key, "changed", "body") for _, key in batch])
            for (name, _), (changed, body) in zip(batch, found, strict=True):
                headway.seen += 1
                if body is None or int(changed) < since:
                    continue
                conversation_id = check_id(name.partition(".")[0])
                try:
                    yield conversation_id, read_data(body, self.location(conversation_id), conversation_id)
                except ConversationMCPError as error:
                    problems.append(error.message)

    def read(self, conversation_id: "ConversationId") -> bytes:
        """Return the bytes that a file would have."""
        body = self._keyspace.command("HGET", self._keyspace.conversation(check_id(conversation_id)), "body")
        if body is None:
            raise ConversationNotFoundError(conversation_id, self._keyspace.place)
        return body

    def is_being_answered(self, conversation_id: str) -> bool:
        """Tell whether a live process has the lease of its turn."""
        return self._conversations.is_being_answered(conversation_id)

    def erase(self, ids: "Collection[ConversationId]") -> None:
        """Read these again, so that the index of this process forgets what they no longer hold."""
        self._index.take_in(ids)


def build(url: str, now: Callable[[], datetime], owner: str) -> KeyspaceFinder:
    """Make the finder of the owner's part of the server."""
    return KeyspaceFinder(Keyspace(url, owner), now)
