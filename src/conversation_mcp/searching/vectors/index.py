"""The index of vectors: the file, what is searched in it, and what is forgotten."""

from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from conversation_mcp.disk.files import make_private_folder
from conversation_mcp.disk.locks import FileLock, LockFolder
from conversation_mcp.errors import ConversationMCPError, IndexNotErasedError
from conversation_mcp.searching.cache import Cache
from conversation_mcp.searching.database import LOCKS, IndexDamagedError, IndexFile, IndexUnusableError, transaction
from conversation_mcp.searching.numeric import prepare_numpy
from conversation_mcp.searching.vectors.base import Model
from conversation_mcp.searching.vectors.pieces import TextSource, digest_of
from conversation_mcp.searching.vectors.rows import VectorRows, models

if TYPE_CHECKING:
    import sqlite3

    from conversation_mcp.searching.vectors.near import Kinship, Neighbourhood
    from conversation_mcp.searching.vectors.nearest import Codes, CodeTable
    from conversation_mcp.searching.vectors.numbers import Floats

T = TypeVar("T")
BUILDING = "building.lock"


class VectorIndex:
    """The vectors of the texts of one kind; satisfies KeptVectors."""

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self._cache = Cache(file, lambda _: None)
        self._searching = Lock()
        self._codes: CodeTable | None = None

    @property
    def location(self) -> str:
        """The folder of the file."""
        return str(self._file.home)

    def size_bytes(self) -> int:
        """Return the size of its files."""
        with suppress(OSError):
            return sum(path.stat().st_size for path in self._file.home.glob(f"{self._file.path.name}*"))
        return 0

    def models(self) -> list[Model]:
        """Return the models whose vectors there are, the newest first."""
        return self._look(models, [])

    def count(self, model: str) -> int:
        """Return how many pieces have a vector of this model."""
        counted = "SELECT count(*) FROM codes WHERE model = (SELECT id FROM models WHERE name = ?)"
        return self._look(lambda database: database.execute(counted, (model,)).fetchone()[0], 0)

    def made(self, model: str) -> Mapping[str, str | None]:
        """Return the states of the groups that the model knows, and change nothing."""

        def states(database: "sqlite3.Connection") -> Mapping[str, str | None]:
            row = next((known.row for known in models(database) if known.name == model), None)
            return {} if row is None else VectorRows(database, row).states()

        return self._look(states, {})

    def nearest(
        self, model: str, query: "Floats", limit: int, within: Collection[str] | None = None
    ) -> "Neighbourhood":
        """Return the pieces nearest to a question; none without a file or in a damaged one."""
        prepare_numpy()
        from conversation_mcp.searching.vectors.near import Neighbourhood

        around = self._look(partial(self._nearest, model, query, limit, within), Neighbourhood())
        return around._replace(similar=partial(self._similar, model, query))

    def kin(self, model: str, group: str, limit: int) -> "Mapping[str, Kinship]":
        """Return how near other groups are to one; nothing as in `nearest`."""
        prepare_numpy()
        return self._look(partial(self._kin, model, group, limit), {})

    def forget(self, groups: Collection[str], source: TextSource | None = None) -> None:
        """Remove the vectors also from the bytes of the file."""
        self._erase(partial(_trim, {group: _digests(source, group) for group in groups}))

    def keep_only(self, groups: Collection[str]) -> None:
        """Remove the vectors of all other groups, as `forget` does. Raises as `forget`."""
        self._erase(partial(_drop_others, groups))

    def write(self, model: str, choice: str, work: Callable[[VectorRows], T]) -> T:
        """Do the work in a new file if there is none or it is damaged."""
        return self._write(lambda database: work(VectorRows.of(database, model, choice)))

    def clean(self) -> None:
        """Take what was deleted out of the journal, too, unless somebody is reading."""
        with suppress(IndexUnusableError):
            self._cache.in_file(lambda database: database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())

    @contextmanager
    def building(self) -> "Generator[FileLock | None]":
        """Hold the right to bring the index up to date; None if another process has it. Raises as `write`."""
        locks = LockFolder(self._file.home / LOCKS)
        try:
            lock = locks.try_lock(BUILDING, partial(make_private_folder, self._file.home))
        except ConversationMCPError as error:
            raise IndexUnusableError(error.message) from error
        try:
            yield lock
        finally:
            if lock:
                lock.release()

    def _write(self, work: "Callable[[sqlite3.Connection], T]") -> T:
        def do(database: "sqlite3.Connection") -> T:
            # The bytes of what is deleted would else stay in the file until others are written over them.
            database.execute("PRAGMA secure_delete = ON")
            with transaction(database):
                return work(database)

        return self._cache.in_file(do)

    def _nearest(
        self,
        model: str,
        query: "Floats",
        limit: int,
        within: Collection[str] | None,
        database: "sqlite3.Connection",
    ) -> "Neighbourhood":
        from conversation_mcp.searching.vectors.nearest import Neighbourhood, nearest

        row, codes = self._loaded(model, database)
        return nearest(database, row, codes, query, limit, within) if codes else Neighbourhood()

    def _similar(self, model: str, query: "Floats", digests: Collection[bytes]) -> "Mapping[bytes, float]":
        from conversation_mcp.searching.vectors.nearest import similarities

        def look(database: "sqlite3.Connection") -> Mapping[bytes, float]:
            row = next((known.row for known in models(database) if known.name == model), None)
            return {} if row is None else similarities(database, row, query, digests)

        return self._look(look, {})

    def _kin(self, model: str, group: str, limit: int, database: "sqlite3.Connection") -> "Mapping[str, Kinship]":
        from conversation_mcp.searching.vectors.nearest import kin

        row, codes = self._loaded(model, database)
        return kin(database, row, codes, group, limit) if codes else {}

    def _loaded(self, model: str, database: "sqlite3.Connection") -> "tuple[int, Codes | None]":
        """Return the row of a model, and its codes if there are any."""
        from conversation_mcp.searching.vectors.nearest import CodeTable

        row = next((known.row for known in models(database) if known.name == model), None)
        if row is None:
            return 0, None
        with self._searching:
            self._codes = self._codes or CodeTable()
            return row, self._codes.codes(database, row)

    def _look(self, work: "Callable[[sqlite3.Connection], T]", otherwise: T) -> T:
        try:
            with self._file.look() as database:
                return otherwise if database is None else work(database)
        except IndexDamagedError as error:
            self._discard(error.inode)
        except IndexUnusableError:
            pass
        except ValueError:  # rows that no version of this program has written
            with suppress(OSError):
                self._discard(self._file.path.stat().st_ino)
        return otherwise

    def _discard(self, inode: int) -> None:
        with suppress(IndexUnusableError):
            self._file.replace(inode)

    def _erase(self, work: "Callable[[sqlite3.Connection], object]") -> None:
        try:
            if self._file.path.exists():
                self._write(work)
                self._cache.in_file(self._truncate)
        except (OSError, IndexUnusableError) as error:
            raise IndexNotErasedError(self.location, str(error)) from error

    def _truncate(self, database: "sqlite3.Connection") -> None:
        # Until it is emptied, the journal has the pages as they were before.
        if database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            raise IndexUnusableError(f"{self._file.path}: another process has been reading it for too long")


def _digests(source: TextSource | None, group: str) -> Mapping[str, bytes]:
    return {piece.item: digest_of(piece) for piece in source.pieces(group)} if source else {}


def _trim(groups: Mapping[str, Mapping[str, bytes]], database: "sqlite3.Connection") -> None:
    for model in models(database):
        VectorRows(database, model.row).trim(groups)


def _drop_others(groups: Collection[str], database: "sqlite3.Connection") -> None:
    for model in models(database):
        rows = VectorRows(database, model.row)
        rows.drop(rows.states().keys() - set(groups))
