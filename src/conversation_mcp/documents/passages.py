"""Passages of documents, cut at headings, paragraphs and functions, each with its place in the file."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conversation_mcp.documents.kinds.outline import CODE, TEXT, Heading, Mark, Outline, Unit

MAX_PASSAGE_CHARS = 1_200
OVERLAP_CHARS = 200
UNPRINTABLE = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029]")
BREAKS = (re.compile("[.!?]\\s+|[\u3002\uff01\uff1f]\\s*"), re.compile(r"\s+"))


@dataclass(frozen=True)
class Passage:
    """A piece of a document. Its lines count from 1, and both the first and the last belong to it."""

    path: Path
    title: str
    headings: tuple[str, ...]
    start_line: int
    end_line: int
    text: str
    unit: Unit = "line"

    @property
    def heading(self) -> str:
        """The headings above the passage: `Install > Windows`."""
        return " > ".join(self.headings)

    @property
    def shown_path(self) -> str:
        """The path on one line."""
        return UNPRINTABLE.sub("\ufffd", str(self.path))

    @property
    def location(self) -> str:
        """The place of the passage: `path:start-end` or `path:line`, as terminals open it; else `path, page 3`."""
        path = self.shown_path
        is_one = self.end_line <= self.start_line
        numbers = str(self.start_line) if is_one else f"{self.start_line}-{self.end_line}"
        return f"{path}:{numbers}" if self.unit == "line" else f"{path}, {self.unit} {numbers}"


@dataclass
class _Section:
    headings: tuple[str, ...]
    line: int
    blocks: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


def cut(outline: Outline, path: Path) -> list[Passage]:
    """Return the passages of a document, in order."""
    lines = outline.lines
    sections = _sections(outline.marks)
    first = next((heading for section in sections for heading in section.headings if heading), path.name)
    return [
        Passage(
            path,
            outline.title or first,
            section.headings,
            outline.number(start),
            outline.number(end - 1),
            piece,
            outline.unit,
        )
        for section in sections
        for group_start, group_end in _groups(lines, section.blocks)
        for start, end, piece in _pieces(lines, group_start, group_end)
    ]


def _sections(marks: Sequence[Mark]) -> list[_Section]:
    """Collect the blocks of lines under each heading; a heading with nothing below it becomes a block itself."""
    trail: list[Heading] = []
    sections = [_Section((), 0)]
    for number, mark in enumerate(marks):
        if isinstance(mark, Heading):
            _close(sections[-1], trail, mark.level)
            trail = [above for above in trail if above.level < mark.level] + [mark] * bool(
                mark.text or not mark.is_text
            )
            sections.append(_Section(tuple(heading.text for heading in trail), number))
            if mark.is_text:
                sections[-1].blocks.append((number, number + 1))
        elif mark in {TEXT, CODE}:
            blocks = sections[-1].blocks
            if blocks and blocks[-1][1] == number:
                blocks[-1] = (blocks[-1][0], number + 1)
            else:
                blocks.append((number, number + 1))
    _close(sections[-1], trail, 0)
    return sections


def _close(section: _Section, trail: Sequence[Heading], next_level: int) -> None:
    if trail and not section.blocks and next_level <= trail[-1].level:
        section.blocks.append((section.line, section.line + 1))


def _groups(lines: Sequence[str], blocks: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join neighbouring blocks as long as they fit into one passage."""
    start, end = blocks[0] if blocks else (0, 0)
    for block_start, block_end in blocks[1:]:
        if len("\n".join(lines[start:block_end])) <= MAX_PASSAGE_CHARS:
            end = block_end
        else:
            yield start, end
            start, end = block_start, block_end
    if end > start:
        yield start, end


def _pieces(lines: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Cut a block that is too long for one passage between lines, and a line that is too long between sentences."""
    if end - start == 1:
        yield from ((start, end, piece) for piece in _line_pieces(lines[start]))
        return
    first, size = start, -1
    for number in range(start, end):
        size += len(lines[number]) + 1
        if size > MAX_PASSAGE_CHARS and number > first:
            yield from _whole_lines(lines, first, number)
            first = _again_from(lines, first, number)
            size = sum(len(line) + 1 for line in lines[first : number + 1]) - 1
    yield from _whole_lines(lines, first, end)


def _again_from(lines: Sequence[str], first: int, number: int) -> int:
    """Return where the next piece begins: some lines early, so that one of two pieces holds what belongs together."""
    size, again = len(lines[number]), number
    while again - 1 > first:
        size += len(lines[again - 1]) + 1
        if size > MAX_PASSAGE_CHARS or size - len(lines[number]) > OVERLAP_CHARS:
            break
        again -= 1
    return again


def _whole_lines(lines: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int, str]]:
    if end - start == 1:
        yield from _pieces(lines, start, end)
    elif any(map(str.strip, lines[start:end])):
        yield start, end, "\n".join(lines[start:end]).strip("\n")


def _line_pieces(line: str) -> list[str]:
    pieces: list[str] = []
    start = 0
    while len(line) - start > MAX_PASSAGE_CHARS:
        limit = start + MAX_PASSAGE_CHARS
        middle = start + MAX_PASSAGE_CHARS // 2
        ends = ([found.end() for found in pattern.finditer(line, middle, limit)] for pattern in BREAKS)
        found = next((found for found in ends if found), [limit])
        pieces.append(line[start : found[-1]])
        start = next((place for place in found if found[-1] - place <= OVERLAP_CHARS), found[-1])
    pieces.append(line[start:])
    return [piece.rstrip() for piece in pieces if piece.strip()]
