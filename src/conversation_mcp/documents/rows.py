"""Reads and writes what the index holds of files; the words of a passage are made from what is kept of it."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from conversation_mcp.documents.kinds.outline import Unit
from conversation_mcp.documents.passages import UNPRINTABLE, Passage
from conversation_mcp.documents.skips import Reason
from conversation_mcp.documents.walk import Document
from conversation_mcp.text import index_text, name_parts, storable

if TYPE_CHECKING:
    import sqlite3

BATCH = 900
"""Old versions of SQLite take no more than 999 values."""
BETWEEN = "\x1f"
BOUNDARY = " \ue000 "
"""Stands between a text and the parts of its names, so that no phrase reaches from one to the other."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}")
DIVISION = re.compile(r"[-\u00ad\u2010][ \t]*[\r\n][\s>#*/]*(?=[^\W\d_])")
"""Where a word is divided; what begins the next line may be the sign of a quote or a comment."""
MAX_HALF_CHARS = 40
FIRST_HALF, SECOND_HALF = re.compile(r"[^\W\d_]+\Z"), re.compile(r"[^\W\d_]+")
KNOWN = "SELECT id, stamp, digest FROM files WHERE path = ?"
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
PASSAGES = """
    SELECT p.id, f.path, f.title, p.headings, p.first, p.last, p.text, f.unit
    FROM passages p JOIN files f ON f.id = p.file WHERE p.id IN (?)
"""


@dataclass(frozen=True)
class Known:
    """What is known of a file that was read."""

    id: int
    stamp: int
    digest: bytes | None


class Rows:
    """Reads and writes the rows of files, inside of the transaction that the caller began."""

    def __init__(self, database: "sqlite3.Connection") -> None:
        self._database = database

    def stamps(self, paths: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return the ids and stamps of those of the files that are known."""
        marks = ",".join("?" * len(paths))
        found = self._database.execute(
            f"SELECT path, id, stamp FROM files WHERE path IN ({marks})",  # noqa: S608 -- marks only
            [os.fsencode(path) for path in paths],
        )
        return {os.fsdecode(path): (row, stamp) for path, row, stamp in found}

    def known(self, path: str) -> Known | None:
        """Return what is known of a file, if it was read."""
        found = self._database.execute(KNOWN, (os.fsencode(path),)).fetchone()
        return Known(*found) if found else None

    def restamp(self, known: Known, document: Document, stamp: int) -> None:
        """Note that a file was touched, but holds what it held."""
        self._database.execute(
            "UPDATE files SET stamp = ?, modified = ? WHERE id = ?", (stamp, document.modified_ns, known.id)
        )

    def put(self, document: Document, stamp: int, digest: bytes | None, found: Sequence[Passage] | Reason) -> None:
        """Write what was found in a file over what was there before, or why nothing was."""
        path = os.fsencode(document.path)
        if known := self.known(document.path):
            self._drop_passages(known.id)
        problem = found.value if isinstance(found, Reason) else None
        passages = () if isinstance(found, Reason) else found
        title = _on_one_line(passages[0].title) if passages else None
        unit = passages[0].unit if passages else None
        shown = storable(document.shown)
        facts = (path, shown, stamp, digest, document.modified_ns, title, unit, problem)
        self._database.execute(PUT_FILE, facts)
        (file,) = self._database.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        for passage in passages:
            headings = BETWEEN.join(_on_one_line(heading) for heading in passage.headings)
            text = storable(passage.text).replace("\0", " ")
            row = self._database.execute(
                PUT_PASSAGE, (file, passage.start_line, passage.end_line, headings, text)
            ).lastrowid
            self._database.execute(PUT_WORDS, (row, *_words(title, shown, headings, text)))

    def drop(self, file: int) -> None:
        """Forget a file."""
        self._drop_passages(file)
        self._database.execute("DELETE FROM files WHERE id = ?", (file,))

    def _drop_passages(self, file: int) -> None:
        kept = self._database.execute(KEPT, (file,)).fetchall()
        self._database.executemany(DROP_WORDS, ((row, *_words(*facts)) for row, *facts in kept))
        self._database.execute("DELETE FROM passages WHERE file = ?", (file,))


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
    """Return the words of a text, then those of its camelCase names, and those that were divided at the end of a line.

    A word that has its hyphen anyhow stands among the divided ones too; nobody looks for it there.
    """
    names = {name for name in NAME.findall(text) if not name[1:].islower()}
    parts = sorted({parts for name in names if (parts := name_parts(name))})
    parts += sorted(set(_divided(text)))
    return BOUNDARY.join((index_text(text), *parts)) if parts else index_text(text)


def _divided(text: str) -> Iterator[str]:
    """Yield the words that were divided at the end of a line."""
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
