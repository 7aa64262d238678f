"""The splitter, which cuts a JSON array of any size into the bytes of its entries without parsing them.

A streaming parser would stop at the first invalid entry. Entries that are cut at brackets outside of strings can be
parsed one by one, so that a damaged one is skipped, and its place is known.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# The quantifiers are possessive: else a string without an end would be tried from each of its characters.
STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
# Only at the top does a comma end an entry.
SHALLOW = re.compile(rb'[^"{}\[\],]*+(?:' + STRING + rb'[^"{}\[\],]*+)*+([{}\[\],])?', re.DOTALL)
DEEP = re.compile(rb'[^"{}\[\]]*+(?:' + STRING + rb'[^"{}\[\]]*+)*+([{}\[\]])?', re.DOTALL)
REST_OF_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
QUOTE, BACKSLASH = b'"', b"\\"


@dataclass(frozen=True)
class Cut:
    """An entry: its number and first byte, both counted from 1, and its bytes; None if it is too large."""

    number: int
    offset: int
    body: bytes | None


class NotClosedError(Exception):
    """The array does not end properly; `offset` is the place, counted from 1."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset


class Splitter:
    """Splits an array that arrives in pieces, scanning each byte once."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._position = 0  # of the first byte of this piece
        self._depth = 0
        self._in_string = self._escaped = self._is_over = False
        self._number = 1
        self._began = 0
        self._parts: list[bytes] = []
        self._size = 0

    def split(self, pieces: Iterable[bytes]) -> Iterator[Cut]:
        """Yield the entries.

        Raises:
            NotClosedError: the array is cut off, or something follows it.
        """
        for piece in pieces:
            yield from self._take(piece)
            self._position += len(piece)
        if not self._is_over:
            raise NotClosedError(f"ends in the middle of entry {self._number:,}", self._position)

    def _take(self, piece: bytes) -> Iterator[Cut]:
        place = kept = 0
        while place < len(piece) and not self._is_over:
            if self._in_string:
                place = self._leave_string(piece, place)
                continue
            found = (SHALLOW if self._depth == 1 else DEEP).match(piece, place)
            assert found  # noqa: S101 -- it matches nothing, too
            place = found.end()
            mark = found[1]
            if mark is None:
                self._in_string = piece[place : place + 1] == QUOTE
                place += self._in_string
            elif mark in b"[{":
                self._depth += 1
                if self._depth == 1:
                    kept, self._began = place, self._position + place
            elif mark == b"," or self._depth == 1:
                yield from self._end_entry(piece[kept : place - 1], is_last=mark != b",")
                kept, self._began = place, self._position + place
                self._is_over = mark != b","
            else:
                self._depth -= 1
        if not self._is_over:
            self._keep(piece[kept:])
        elif rest := piece[place:].lstrip():
            raise NotClosedError("continues after its end", self._position + len(piece) - len(rest) + 1)

    def _leave_string(self, piece: bytes, place: int) -> int:
        if self._escaped:
            self._escaped = False
            place += 1
        found = REST_OF_STRING.match(piece, place)
        place = found.end() if found else place
        if piece[place : place + 1] == BACKSLASH:  # at the end: the escaped character comes with the next piece
            self._escaped = True
        elif piece[place : place + 1] == QUOTE:
            self._in_string = False
        return place + 1

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._max_bytes:
            self._parts.clear()
        else:
            self._parts.append(part)

    def _end_entry(self, part: bytes, *, is_last: bool) -> Iterator[Cut]:
        self._keep(part)
        body = b"".join(self._parts) if self._size <= self._max_bytes else None
        self._parts.clear()
        self._size = 0
        is_nothing = body is not None and not body.strip()
        if not (is_last and is_nothing):
            offset = self._began + 1 + (len(body) - len(body.lstrip()) if body else 0)
            yield Cut(self._number, offset, body)
        self._number += 1
