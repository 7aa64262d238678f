"""The rows of files and passages in the index.

FTS5 keeps no copy of the words (`content=''`): to delete them, they are derived again from the stored passage.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from conversation_mcp.documents.kinds.outline import Unit
from conversation_mcp.documents.passages import UNPRINTABLE, Passage
from conversation_mcp.documents.readings import Reading
from conversation_mcp.documents.skips import Reason
from conversation_mcp.documents.walk import Document
from conversation_mcp.searching.stamped import BATCH, Seen, StampedRows
from conversation_mcp.text import index_text, name_parts, storable

if TYPE_CHECKING:
    import sqlite3

# No heading contains it: control characters are replaced there.
BETWEEN = "\x1f"
BOUNDARY = " \ue000 "
"""Separates a text from the parts of its names, so that no phrase matches across the two."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}")
DIVISION = re.compile(r"[-\u00ad\u2010][ \t]*[\r\n][\s>#*/]*(?=[^\W\d_])")
"""A hyphen at the end of a line; the next line may begin with the sign of a quote or a comment."""
MAX_HALF_CHARS = 40
FIRST_HALF, SECOND_HALF = re.compile(r"[^\W\d_]+\Z"), re.compile(r"[^\W\d_]+")
KNOWN = "SELECT id, digest FROM files WHERE path = ?"
PUT_FILE = """
    INSERT INTO files (path, shown, stamp, digest, modified, title, unit, problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (path) DO UPDATE SET shown = excluded.shown, stamp = excluded.stamp, digest = excluded.digest,
        modified = excluded.modified, title = excluded.title, unit = excluded.unit, problem = excluded.problem
"""
PUT_PASSAGE = "INSERT INTO passages (file, first, last, headings, text) VALUES (?, ?, ?, ?, ?)"
PUT_WORDS = "INSERT INTO words (rowid, title, heading, body) VALUES (?, ?, ?, ?)"
DROP_WORDS = "INSERT INTO words (words, rowid, title, heading, body) VALUES ('delete', ?, ?, ?, ?)"
KEPT = """
    SELECT p.id, f.title, f.shown, p.headings, p.text FROM passages p JOIN files f ON f.id = p.file WHERE p.file = ?
"""
STATE = "SELECT digest FROM files WHERE path = ? AND problem IS NULL AND digest IS NOT NULL"
STATES = "SELECT path, digest FROM files WHERE problem IS NULL AND digest IS NOT NULL ORDER BY path"
PASSAGES_OF = """
    SELECT p.id, p.headings, p.text FROM passages p JOIN files f ON f.id = p.file WHERE f.path = ? ORDER BY p.id
"""
PASSAGES = """
    SELECT p.id, f.path, f.title, p.headings, p.first, p.last, p.text, f.unit
    FROM passages p JOIN files f ON f.id = p.file WHERE p.id IN (?)
"""


class DocumentRows(StampedRows[Reading]):
    """The rows of files and of their passages."""

    TABLE = "files"
    ROW = "id"
    KEY = "path"

    def stored(self, key: str) -> bytes:
        """Return the path as the bytes of the file system, which need not be text."""
        return os.fsencode(key)

    def key(self, stored: str | bytes) -> str:
        """Return the path."""
        return os.fsdecode(stored)

    def put(self, key: str, seen: Seen[Reading]) -> None:
        """Write the passages of a file, or the reason why it has none; if it was only touched, just its stamp."""
        document, content = seen.content.document, seen.content.content
        if isinstance(content, Reason):
            self.write(document, seen.stamp, None, content)
        elif content.digest == self._known(key)[1]:  # a checkout touches thousands of files without changing them
            touched = (seen.stamp, document.modified_ns, self.stored(key))
            self.database.execute("UPDATE files SET stamp = ?, modified = ? WHERE path = ?", touched)
        else:
            self.write(document, seen.stamp, content.digest, content.passages())

    def write(self, document: Document, stamp: int, digest: bytes | None, found: Sequence[Passage] | Reason) -> None:
        """Replace the rows of a file and of its passages."""
        self._drop_passages(self._known(document.path)[0])
        problem = found.value if isinstance(found, Reason) else None
        passages = () if isinstance(found, Reason) else found
        title = _on_one_line(passages[0].title) if passages else None
        unit = passages[0].unit if passages else None
        shown, path = storable(document.shown), self.stored(document.path)
        self.database.execute(PUT_FILE, (path, shown, stamp, digest, document.modified_ns, title, unit, problem))
        file, _ = self._known(document.path)
        for passage in passages:
            headings = BETWEEN.join(_on_one_line(heading) for heading in passage.headings)
            text = storable(passage.text).replace("\0", " ")
            row = self.database.execute(
                PUT_PASSAGE, (file, passage.start_line, passage.end_line, headings, text)
            ).lastrowid
            self.database.execute(PUT_WORDS, (row, *_words(title, shown, headings, text)))

    def drop(self, key: str) -> None:
        """Remove the rows of a file."""
        file, _ = self._known(key)
        self._drop_passages(file)
        self.database.execute("DELETE FROM files WHERE id = ?", (file,))

    def _known(self, path: str) -> tuple[int | None, bytes | None]:
        """Return the id of a file and the digest of its content when it was read."""
        return self.database.execute(KNOWN, (self.stored(path),)).fetchone() or (None, None)

    def _drop_passages(self, file: int | None) -> None:
        kept = self.database.execute(KEPT, (file,)).fetchall()
        self.database.executemany(DROP_WORDS, ((row, *_words(*facts)) for row, *facts in kept))
        self.database.execute("DELETE FROM passages WHERE file = ?", (file,))


def problems(database: "sqlite3.Connection") -> Iterator[tuple[Reason, str]]:
    """Yield the files that could not be read, with the reason."""
    for path, problem in database.execute("SELECT path, problem FROM files WHERE problem IS NOT NULL ORDER BY path"):
        yield Reason(problem), os.fsdecode(path)


def passages_of(database: "sqlite3.Connection", ids: Sequence[int]) -> dict[int, Passage]:
    """Return the passages with these ids."""
    passages: dict[int, Passage] = {}
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        found = database.execute(PASSAGES.replace("(?)", f"({','.join('?' * len(batch))})"), batch)
        for row, path, title, headings, first, last, text, unit in found:
            trail = tuple(headings.split(BETWEEN)) if headings else ()
            passages[row] = Passage(Path(os.fsdecode(path)), title, trail, first, last, text, cast("Unit", unit))
    return passages


def indexed(text: str) -> str:
    """Return the words of a text, then those of its camelCase names, and words that were hyphenated at line ends.

    A word that always has a hyphen is then also indexed without it, which does no harm.
    """
    names = {name for name in NAME.findall(text) if not name[1:].islower()}
    parts = sorted({parts for name in names if (parts := name_parts(name))})
    parts += sorted(set(_divided(text)))
    return BOUNDARY.join((index_text(text), *parts)) if parts else index_text(text)


def _divided(text: str) -> Iterator[str]:
    """Yield the whole words that were hyphenated at line ends."""
    for found in DIVISION.finditer(text):
        start, end = found.span()
        before = FIRST_HALF.search(text[max(0, start - MAX_HALF_CHARS) : start])
        after = SECOND_HALF.match(text, end, end + MAX_HALF_CHARS)
        if before and after:
            yield index_text(before[0] + after[0])


def _words(title: str | None, shown: str, headings: str, text: str) -> Iterator[str]:
    yield indexed(f"{title or ''} {shown}")
    yield indexed(headings.replace(BETWEEN, " "))
    yield indexed(text)


def _on_one_line(text: str) -> str:
    return " ".join(UNPRINTABLE.sub(" ", storable(text)).split())
