"""The user's documents as something that can be asked: an index that follows the files, and what it holds."""

from collections.abc import Callable, Generator, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from conversation_mcp.documents.formats import Formats
from conversation_mcp.documents.query_words import RelatedWords, load_related_words
from conversation_mcp.documents.question import Question
from conversation_mcp.documents.ranking import Ranker
from conversation_mcp.documents.refresh import Taker, Work, problems
from conversation_mcp.documents.roots import Root
from conversation_mcp.documents.schema import schema
from conversation_mcp.documents.scope import Scope
from conversation_mcp.documents.selection import Finder, Findings
from conversation_mcp.documents.skips import Skipped
from conversation_mcp.documents.walk import Documents
from conversation_mcp.errors import FilesystemError, ProviderUnavailableError
from conversation_mcp.searching.cache import Cache
from conversation_mcp.searching.cache import Work as SqlWork
from conversation_mcp.searching.database import IndexFile, purge_orphans

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

ATTEMPTS = 3
"""How often something is done anew because files or the index were changed meanwhile."""


class Library:
    """The documents of one set of names. All of it blocks, a step for about a second."""

    def __init__(self, roots: Sequence[Root], indexes: Path, now: Callable[[], datetime], formats: Formats) -> None:
        self.roots = tuple(roots)
        self._formats = formats
        self._left_out = Skipped()
        self._now = now
        self._indexes = indexes
        kind = "\0".join(("documents", *sorted(formats.missing), *(root.pattern for root in self.roots)))
        self._file = IndexFile([root.path for root in self.roots], indexes, schema(kind))
        self._cache = Cache(self._file, self._build_at_once)
        self.problem: str | None = None
        """Why no index is kept, if none is."""

    @property
    def skipped(self) -> Skipped:
        """What was left out at the last look."""
        return self._left_out.with_all(self._ask(lambda database: list(problems(database))))

    @property
    def has_text(self) -> bool:
        """Whether there is any passage; an index that was lost since the last look is made anew first."""
        for _ in range(ATTEMPTS):
            if self._ask(lambda database: database.execute("SELECT 1 FROM passages LIMIT 1").fetchone()):
                return True
            for _ in self.catch_up():
                pass
        return False

    def survey(self) -> tuple[int, Skipped]:
        """Count the documents and what is left out; what was read in vain is known only where there is an index."""
        documents = Documents(self.roots, self._formats)
        count = sum(1 for _ in documents)
        vain = self._ask(lambda database: list(problems(database))) if self._file.path.exists() else []
        return count - len(vain), documents.skipped.with_all(vain)

    def purge_orphans(self) -> None:
        """Remove the indexes of documents that are gone."""
        purge_orphans(self._indexes)

    def catch_up(self) -> Generator[Work]:
        """Bring the index up to the files; yield before each step what there is to do, and how much is done."""
        for _ in range(ATTEMPTS):
            replacements = self._cache.replacements
            work = self._ask(self._look)
            yield work
            while not work.is_done:
                self._ask(lambda database, work=work: self._taker(database).go_on(work))
                yield work
            if self._cache.replacements == replacements:
                return

    def find(self, question: Question, scope: Scope, limit: int, *, by_parts: bool) -> Findings:
        """Return the passages that answer a question, as their files are now."""
        for _ in range(ATTEMPTS - 1):
            findings = self._ask(lambda database: self._found(database, question, scope, limit, by_parts=by_parts))
            paths = sorted({str(passage.path) for passage in findings.passages})
            if self._ask(lambda database, paths=paths: self._taker(database).are_current(paths)):
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
        return Finder(database, ranker).find(question, limit, by_parts=by_parts)

    @cached_property
    def _related(self) -> RelatedWords:
        return load_related_words()

    def _look(self, database: "sqlite3.Connection") -> Work:
        documents = Documents(self.roots, self._formats)
        work = self._taker(database).look(documents)
        self._left_out = documents.skipped
        return work

    def _taker(self, database: "sqlite3.Connection") -> Taker:
        return Taker(database, self._formats, self._now)

    def _build_at_once(self, database: "sqlite3.Connection") -> None:
        work = self._look(database)
        while not work.is_done:
            self._taker(database).go_on(work)

    def _ask(self, do: SqlWork[T]) -> T:
        try:
            result, self.problem = self._cache.ask(do)
        except FilesystemError as error:
            message = f"the documents cannot be searched ({error.message.rstrip('.')})."
            raise ProviderUnavailableError(message) from error
        return result
