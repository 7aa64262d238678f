"""The library of the user's documents: keeps their index up to date and finds passages in it."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from conversation_mcp.documents.formats import Formats
from conversation_mcp.documents.query_words import RelatedWords, load_related_words
from conversation_mcp.documents.question import Question
from conversation_mcp.documents.ranking import CANDIDATES, Ranker
from conversation_mcp.documents.readings import Reading, Readings
from conversation_mcp.documents.roots import Root
from conversation_mcp.documents.rows import DocumentRows, problems
from conversation_mcp.documents.schema import schema
from conversation_mcp.documents.scope import Scope, wanted_paths
from conversation_mcp.documents.selection import Findings, PassageFinder
from conversation_mcp.documents.skips import Skipped
from conversation_mcp.documents.vectors import Meant, PassageTexts, meant_by
from conversation_mcp.documents.walk import Document, Documents, current_stamp
from conversation_mcp.embeddings.catalog import Embedders
from conversation_mcp.embeddings.meaning import Meaning
from conversation_mcp.errors import FilesystemError, ProviderUnavailableError
from conversation_mcp.searching.cache import Cache, Work
from conversation_mcp.searching.database import IndexFile, purge_orphans
from conversation_mcp.searching.stamped import UNTRUSTED, Backlog, Follower
from conversation_mcp.searching.vectors.index import VectorIndex
from conversation_mcp.searching.vectors.schema import schema as vector_schema

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

ATTEMPTS = 3
"""How often a step is tried, if files or the index are changed meanwhile."""


class DocumentLibrary:
    """The documents that the user named. All methods block; each step of `catch_up` for about a second."""

    def __init__(
        self,
        roots: Sequence[Root],
        indexes: Path,
        now: Callable[[], datetime],
        formats: Formats,
        embedders: Embedders | None = None,
    ) -> None:
        self.roots = tuple(roots)
        self._formats = formats
        self._left_out = Skipped()
        self._now = now
        self._indexes = indexes
        # An index that was made without a converter lacks the passages of its files, and a pattern changes which count.
        kind = "\0".join(("documents", *sorted(formats.missing), *(root.pattern for root in self.roots)))
        self._file = IndexFile([root.path for root in self.roots], indexes, schema(kind))
        self._cache = Cache(self._file, self._build_at_once)
        vectors = IndexFile([root.path for root in self.roots], indexes, vector_schema(kind))
        self.meaning = Meaning(VectorIndex(vectors), embedders) if embedders and embedders.chosen else None

    @property
    def problem(self) -> str | None:
        """Why the index cannot be kept in a file, if it cannot."""
        return self._cache.problem

    @property
    def skipped(self) -> Skipped:
        """What the last comparison left out."""
        return self._left_out.with_all(self._ask(lambda database: list(problems(database))))

    @property
    def has_text(self) -> bool:
        """Whether there is any passage; an index that was lost meanwhile is rebuilt first."""
        for _ in range(ATTEMPTS):
            if self._ask(lambda database: database.execute("SELECT 1 FROM passages LIMIT 1").fetchone()):
                return True
            for _ in self.catch_up():
                pass
        return False

    @property
    def passage_count(self) -> int:
        """How many passages the index knows, without making one."""
        if not self._file.path.exists():
            return 0
        return self._ask(lambda database: database.execute("SELECT count(*) FROM passages").fetchone()[0])

    def survey(self) -> tuple[int, Skipped]:
        """Count the documents and what is left out; files without readable text are known only if an index exists."""
        documents = Documents(self.roots, self._formats)
        count = sum(1 for _ in documents)
        vain = self._ask(lambda database: list(problems(database))) if self._file.path.exists() else []
        return count - len(vain), documents.skipped.with_all(vain)

    def purge_orphans(self) -> None:
        """Remove the indexes of documents that are gone."""
        purge_orphans(self._indexes)

    def catch_up(self) -> Generator[Backlog[Document]]:
        """Bring the index up to date; yield the work and its progress before each step."""
        for _ in range(ATTEMPTS):
            replacements = self._cache.replacements
            documents = Documents(self.roots, self._formats)
            backlog = self._take_in(lambda database, of=documents: self._follower(database, of).look())
            self._left_out = documents.skipped
            yield backlog
            while not backlog.is_done:
                self._take_in(
                    lambda database, of=documents, backlog=backlog: self._follower(database, of).go_on(backlog)
                )
                yield backlog
            if self._cache.replacements == replacements:  # else an empty index has replaced a damaged one meanwhile
                return

    def find(self, question: Question, scope: Scope, limit: int, *, by_parts: bool) -> Findings:
        """Return the passages that answer a question, as their files are now."""
        for _ in range(ATTEMPTS - 1):
            findings = self._ask(lambda database: self._found(database, question, scope, limit, by_parts=by_parts))
            paths = sorted({str(passage.path) for passage in findings.passages})
            # A file that has changed since would be cited with lines that are no longer there.
            if self._ask(lambda database, paths=paths: _are_current(DocumentRows(database), paths)):
                return findings
            for _ in self.catch_up():
                pass
        return self._ask(lambda database: self._found(database, question, scope, limit, by_parts=by_parts))

    def _found(
        self, database: "sqlite3.Connection", question: Question, scope: Scope, limit: int, *, by_parts: bool
    ) -> Findings:
        if not scope.is_all and not scope.apply(database):
            return Findings((), (), is_out_of_scope=True)
        ranker = Ranker(database, self._related, is_scoped=not scope.is_all)
        meant = self._meant(database, question, scope)
        phrasings = [(one, self._meant(database, one, scope)) for one in question.phrasings]
        return PassageFinder(database, ranker, meant, phrasings).find(question, limit, by_parts=by_parts)

    def _meant(self, database: "sqlite3.Connection", question: Question, scope: Scope) -> Meant | None:
        if self.meaning is None:
            return None
        around = self.meaning.near(question.text, CANDIDATES, None if scope.is_all else wanted_paths(database))
        return None if around is None else meant_by(database, around)

    @property
    def texts(self) -> PassageTexts:
        """The passages for an index of vectors."""
        return PassageTexts(self._ask)

    @cached_property
    def _related(self) -> RelatedWords:
        return load_related_words()

    def _follower(self, database: "sqlite3.Connection", documents: Documents) -> Follower[Document, Reading]:
        return Follower(DocumentRows(database), Readings(documents, self._formats, self._now))

    def _build_at_once(self, database: "sqlite3.Connection") -> None:
        documents = Documents(self.roots, self._formats)
        follower = self._follower(database, documents)
        backlog = follower.look()
        self._left_out = documents.skipped
        follower.finish(backlog)

    def _ask(self, do: Work[T]) -> T:
        with _explained():
            return self._cache.look(do)

    def _take_in(self, do: Work[T]) -> T:
        with _explained():
            return self._cache.take_in(do)


@contextmanager
def _explained() -> Generator[None]:
    try:
        yield
    except FilesystemError as error:
        message = f"the documents cannot be searched ({error.message.rstrip('.')})."
        raise ProviderUnavailableError(message) from error


def _are_current(rows: DocumentRows, paths: Sequence[str]) -> bool:
    """Tell whether the files are unchanged since they were read, as far as that can be known."""
    if not paths:  # nothing was found, perhaps only because the index was lost and is empty
        return rows.newest() > 0
    known, now = rows.stamps(paths), {path: current_stamp(path) for path in paths}
    return all(path in known and now[path] and known[path][1] in {UNTRUSTED, now[path]} for path in paths)
