"""The finder of a folder of conversations, which reads the files while they are few and else the index."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

from conversation_mcp.disk.faults import explained
from conversation_mcp.records.facts import describe
from conversation_mcp.records.found import Listed, MemoryPage, Page, Place, Wanted, WantedMemories
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.layout import FILE_NAME
from conversation_mcp.records.plain import Data
from conversation_mcp.stores.files.contents import ContentFiles
from conversation_mcp.stores.files.newest import largest, newest
from conversation_mcp.stores.files.owners import home_for
from conversation_mcp.stores.files.scan import File, facts_in, file_of, find, find_all, is_being_answered, read_each
from conversation_mcp.stores.files.vault import PlainVault, Vault, vault_of
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.sealing.keys import Encryption
    from conversation_mcp.searching.database import IndexFile
    from conversation_mcp.searching.vectors.index import VectorIndex
    from conversation_mcp.searching.vectors.near import Neighbourhood
    from conversation_mcp.stores.files.index.sqlite import SqliteIndex
    from conversation_mcp.stores.files.inspector import FolderInspector
    from conversation_mcp.stores.files.turns import TurnTexts
    from conversation_mcp.stores.finder import Finder, Standing, TextVectors

VectorKind = Literal["turns", "memories"]
VECTOR_KINDS: tuple[VectorKind, ...] = ("turns", "memories")
READ_AT_ONCE = 2_000
"""Up to this number, reading the files is about as quick as comparing an index, which would have to be built first."""


class FileFinder:
    """Finds the conversations of a folder; satisfies Finder. The index is loaded at its first use."""

    def __init__(
        self,
        folder: Path,
        now: Callable[[], datetime],
        index: "SqliteIndex | None" = None,
        vault: Vault | None = None,
    ) -> None:
        self._folder = folder
        self._vault = vault or PlainVault(folder)
        self._now = now
        self._index = index
        self._loading = Lock()
        self._noted: set[ConversationId] = set()

    @property
    def place(self) -> str:
        """The path of the folder."""
        return str(self._folder)

    @property
    def folder(self) -> Path:
        """The folder."""
        return self._folder

    @property
    def index(self) -> "SqliteIndex":
        """The index, in the user's cache folder."""
        with self._loading:
            if self._index is None:
                from conversation_mcp.stores.files.index.sqlite import SqliteIndex, indexes_folder

                self._index = SqliteIndex(self._folder.absolute(), indexes_folder(), describe, self._now, self._vault)
            return self._index

    @property
    def turns(self) -> "TextVectors | None":
        """The vectors of turns, beside the index; None if conversations are encrypted, and found by words alone."""
        if self._vault.is_sealing:
            return None
        from conversation_mcp.stores.finder import TextVectors

        return TextVectors(self._vectors("turns"), self._turn_texts())

    @property
    def remembered(self) -> "TextVectors | None":
        """The vectors of memories, beside the index; None as for turns."""
        if self._vault.is_sealing:
            return None
        from conversation_mcp.stores.finder import TextVectors

        return TextVectors(self._vectors("memories"), self.index.memory_texts)

    def index_files(self) -> "tuple[IndexFile, ...]":
        """Return the files of all that is made from the conversations and kept elsewhere."""
        return self.index.file, *map(self._vectors_file, VECTOR_KINDS)

    @property
    def attachments(self) -> ContentFiles:
        """The contents beside the files, read anew each time."""
        return ContentFiles(self._folder, self._vault)

    @property
    def inspector(self) -> "FolderInspector":
        """The inspector of the folder."""
        from conversation_mcp.stores.files.inspector import FolderInspector

        return FolderInspector(self._folder, self._now)

    def location(self, conversation_id: str) -> str:
        """Return the path of the conversation's file."""
        return str(self._folder / check_id(conversation_id) / FILE_NAME)

    def refresh(self, headway: Headway) -> None:
        """Compare the index with the folder."""
        self._noted.clear()
        self.index.compare(headway)

    def standing(self) -> "Standing":
        """Return how much the index knows."""
        return self.index.standing()

    def purge_orphans(self) -> None:
        """Remove the indexes of folders that are gone."""
        self.index.purge_orphans()

    def note(self, conversation_id: "ConversationId") -> None:
        """Remember an id for `take_in_written`; does not block."""
        self._noted.add(conversation_id)

    def take_in_written(self) -> None:
        """Have the index read the conversations that were noted."""
        noted: list[ConversationId] = []  # emptied by pop: another thread may note an id meanwhile
        while self._noted:
            noted.append(self._noted.pop())
        if noted:
            self.index.take_in(noted)

    def page(
        self, wanted: Wanted, limit: int, place: Place | None = None, around: "Neighbourhood | None" = None
    ) -> Page:
        """Return the next conversations from the index, reading those again whose files have changed."""
        return self.index.page(wanted, limit, place, around)

    def memories(self, wanted: WantedMemories, limit: int, skip: int = 0) -> MemoryPage:
        """Return the next memories from the index, reading the files again that have changed."""
        return self.index.memories(wanted, limit, skip)

    def newest(self, limit: int | None = None, begins: str = "", *, archived: bool = False) -> Page:
        """Read the files of the newest conversations."""
        return newest(self._folder, self._vault, limit, begins, archived=archived)

    def every_newest(self, limit: int | None, headway: Headway) -> Iterator[Page]:
        """Yield the newest: from the index if they are many, but no index is built for a list with a limit."""
        if not self._has_many():
            yield newest(self._folder, self._vault, limit)
        elif obstacle := self.index.obstacle():
            yield newest(self._folder, self._vault, limit).with_notice(
                f"no index is kept, so the files are read ({obstacle})"
            )
        elif limit is not None and self.index.standing().compared_at is None:
            yield newest(self._folder, self._vault, limit)
        else:
            from conversation_mcp.stores.finder import pages

            yield from pages(self, Wanted(), limit, None, headway)

    def largest(self, limit: int | None = None) -> Page:
        """Read the largest files."""
        return largest(self._folder, self._vault, limit)

    def ids(self, begins: str = "") -> "list[ConversationId]":
        """Return the names of the folders that hold a file."""
        return sorted(file.conversation_id for file in find(self._folder) if file.conversation_id.startswith(begins))

    def facts(self, ids: "Iterable[ConversationId]") -> Iterator[Listed]:
        """Read these files."""
        files = filter(None, (file_of(self._folder, each) for each in ids))
        return (facts for _, facts in read_each(files, facts_in, [], self._vault))

    def known(self, conversation_id: "ConversationId") -> Listed | None:
        """Ask the index, and compare the file's stamp with the one that it has."""
        return self.index.known(conversation_id)

    def contents(
        self, headway: Headway, problems: list[str], written_since: datetime | None = None
    ) -> "Iterator[tuple[ConversationId, Data]]":
        """Read the files of the folder and of its trash; files older than `written_since` are not opened."""
        since = 0.0 if written_since is None else written_since.timestamp()
        files = [file for file in find_all(self._folder) if file.written >= since]
        headway.total = len(files)
        for file, data in read_each(_counted(files, headway), lambda _, data: data, problems, self._vault):
            yield file.conversation_id, data

    def read(self, conversation_id: "ConversationId") -> bytes:
        """Return the bytes of the file."""
        from conversation_mcp.disk.files import read_file
        from conversation_mcp.stores.files.known import readable

        path = Path(self.location(conversation_id))
        with readable(path, conversation_id, self._folder):
            return self._vault.open(str(path), conversation_id, read_file(path))

    def is_being_answered(self, conversation_id: str) -> bool:
        """Tell whether the turn lock is held."""
        return is_being_answered(self._folder, conversation_id)

    def erase(self, ids: "Collection[ConversationId]") -> None:
        """Erase the words of these conversations from the index, and the vectors of their turns and memories."""
        try:
            self.index.erase(ids)
        finally:
            if not self._vault.is_sealing:
                try:
                    self._vectors("turns").forget(ids, self._turn_texts())
                finally:
                    self._vectors("memories").keep_only({name for name, _ in self.index.memory_texts.groups()})

    def _vectors(self, kind: VectorKind) -> "VectorIndex":
        from conversation_mcp.searching.vectors.index import VectorIndex

        return VectorIndex(self._vectors_file(kind))

    def _turn_texts(self) -> "TurnTexts":
        from conversation_mcp.stores.files.turns import TurnTexts

        return TurnTexts(self._folder.absolute(), self._now, self._vault)

    def _vectors_file(self, kind: VectorKind) -> "IndexFile":
        from conversation_mcp.searching.database import IndexFile
        from conversation_mcp.searching.vectors.schema import schema

        return IndexFile([self._folder.absolute()], self.index.indexes, schema(kind))

    def _has_many(self) -> bool:
        with explained(self._folder), suppress(FileNotFoundError), os.scandir(self._folder) as entries:
            return any(number >= READ_AT_ONCE for number, _ in enumerate(entries))
        return False


def _counted(files: Iterable[File], headway: Headway) -> Iterator[File]:
    for file in files:
        yield file
        headway.seen += 1


def build(url: str, now: Callable[[], datetime], owner: str, *, encryption: "Encryption | None" = None) -> "Finder":
    """Make the finder of the owner's folder below the one that the URL names, without opening anything yet."""
    home = home_for(url, owner)
    return FileFinder(home, now, vault=vault_of(home, owner, encryption))
