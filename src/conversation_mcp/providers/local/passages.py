"""Cuts a document at its headings and paragraphs into passages that know their lines."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MAX_PASSAGE_CHARS = 1_200

NEWLINE = re.compile(r"\r\n|\n|\r")
ATX_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|\Z)")
SETEXT_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
NO_SETEXT_TEXT = re.compile(r" {4}|\t|\s*(?:[-*+>|]|\d+[.)]\s|```|~~~)")
FENCE = re.compile(r"\s*(`{3,}(?=[^`]*\Z)|~{3,})")
FRONT_MATTER_KEY = re.compile(r"[\w\"'-]+:")
BREAKS = (re.compile("[.!?]\\s+|[\u3002\uff01\uff1f]\\s*"), re.compile(r"\s+"))

BLANK, TEXT, CODE, MARKUP = "blank", "text", "code", "markup"


@dataclass(frozen=True)
class Passage:
    """A piece of a document; the lines named, 1-based and both included, contain its text."""

    path: Path
    title: str
    headings: tuple[str, ...]
    start_line: int
    end_line: int
    text: str

    @property
    def heading(self) -> str:
        """The headings above the passage: `Install > Windows`."""
        return " > ".join(self.headings)


@dataclass(frozen=True)
class _Heading:
    level: int
    text: str


@dataclass
class _Section:
    headings: tuple[str, ...]
    line: int
    blocks: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


def cut(text: str, path: Path) -> list[Passage]:
    """Return the passages of a document, in order. Fenced code and front matter hold no headings."""
    lines = NEWLINE.split(text)
    sections = _sections(_marks(lines))
    title = next((heading for section in sections for heading in section.headings if heading), path.name)
    return [
        Passage(path, title, section.headings, start + 1, end, piece)
        for section in sections
        for group_start, group_end in _groups(lines, section.blocks)
        for start, end, piece in _pieces(lines, group_start, group_end)
    ]


def _marks(lines: Sequence[str]) -> list[str | _Heading]:
    """Say of each line what it is: blank, text, code, the line of a heading, or markup that belongs to one."""
    marks: list[str | _Heading] = [CODE] * _front_matter_lines(lines)
    fence = ""
    for number in range(len(marks), len(lines)):
        line = lines[number]
        opening = FENCE.match(line)
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            marks.append(CODE)
        elif opening:
            fence = opening.group(1)
            marks.append(CODE)
        elif atx := ATX_HEADING.match(line):
            marks.append(_Heading(len(atx.group(1)), _atx_text(line[atx.end() :].strip())))
        elif _is_underline(lines, marks, number):
            marks[-1] = _Heading(1 if line.strip().startswith("=") else 2, lines[number - 1].strip())
            marks.append(MARKUP)
        else:
            marks.append(TEXT if line.strip() else BLANK)
    return marks


def _atx_text(text: str) -> str:
    """Return the text without the closing `#` signs that some put behind it."""
    opened = text.rstrip("#")
    return opened.rstrip() if not opened or opened[-1].isspace() else text


def _front_matter_lines(lines: Sequence[str]) -> int:
    if lines[0].rstrip() != "---" or not any(map(FRONT_MATTER_KEY.match, lines[1:2])):
        return 0
    return next((number + 1 for number, line in enumerate(lines) if number and line.rstrip() in {"---", "..."}), 0)


def _is_underline(lines: Sequence[str], marks: list[str | _Heading], number: int) -> bool:
    """Tell whether the line underlines a heading of one line, and mark the overline that some put above it."""
    if not SETEXT_UNDERLINE.fullmatch(lines[number]) or marks[-1:] != [TEXT] or NO_SETEXT_TEXT.match(lines[number - 1]):
        return False
    if marks[-2:-1] != [TEXT]:
        return True
    if lines[number - 2].strip() != lines[number].strip():
        return False
    marks[-2] = MARKUP
    return True


def _sections(marks: Sequence[str | _Heading]) -> list[_Section]:
    """Gather the blocks of lines under each heading; a last heading with nothing below it is its own block."""
    trail: list[_Heading] = []
    sections = [_Section((), 0)]
    for number, mark in enumerate(marks):
        blocks = sections[-1].blocks
        if isinstance(mark, _Heading):
            _close(sections[-1], trail, mark.level)
            trail = [*(above for above in trail if above.level < mark.level), mark]
            sections.append(_Section(tuple(heading.text for heading in trail), number))
        elif mark in {TEXT, CODE}:
            if blocks and blocks[-1][1] == number:
                blocks[-1] = (blocks[-1][0], number + 1)
            else:
                blocks.append((number, number + 1))
    _close(sections[-1], trail, 0)
    return sections


def _close(section: _Section, trail: Sequence[_Heading], next_level: int) -> None:
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
    """Cut a block that is too long for one passage at its lines, and a line that is too long at its sentences."""
    if end - start == 1:
        yield from ((start, end, piece) for piece in _line_pieces(lines[start]))
        return
    first, size = start, -1
    for number in range(start, end):
        size += len(lines[number]) + 1
        if size > MAX_PASSAGE_CHARS and number > first:
            yield from _whole_lines(lines, first, number)
            first, size = number, len(lines[number])
    yield from _whole_lines(lines, first, end)


def _whole_lines(lines: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int, str]]:
    if end - start == 1:
        yield from _pieces(lines, start, end)
    else:
        yield start, end, "\n".join(lines[start:end])


def _line_pieces(line: str) -> list[str]:
    pieces: list[str] = []
    start = 0
    while len(line) - start > MAX_PASSAGE_CHARS:
        limit = start + MAX_PASSAGE_CHARS
        middle = start + MAX_PASSAGE_CHARS // 2
        ends = ([found.end() for found in pattern.finditer(line, middle, limit)] for pattern in BREAKS)
        cut_at = next((found[-1] for found in ends if found), limit)
        pieces.append(line[start:cut_at])
        start = cut_at
    pieces.append(line[start:])
    return [piece.rstrip() for piece in pieces if piece.strip()]
