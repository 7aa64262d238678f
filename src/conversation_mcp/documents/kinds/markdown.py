"""Markdown and plain text as an outline. Fenced code and front matter hold no headings."""

import re
from collections.abc import Sequence

from conversation_mcp.documents.kinds.outline import BLANK, CODE, MARKUP, NEWLINE, TEXT, Heading, Mark, Outline

ATX_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|\Z)")
SETEXT_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
NO_SETEXT_TEXT = re.compile(r" {4}|\t|\s*(?:[-*+>|]|\d+[.)]\s|```|~~~)")
FENCE = re.compile(r"\s*(`{3,}(?=[^`]*\Z)|~{3,})")
FRONT_MATTER = {"---": frozenset({"---", "..."}), "+++": frozenset({"+++"}), ";;;": frozenset({";;;"})}
"""The lines that begin and end front matter in YAML, TOML and JSON."""
FRONT_MATTER_LINE = re.compile(r"\s|[#\[\]{}]|-(?:\s|\Z)|[\w\"'.$@-][^:=]*[:=]|\Z")


def markdown(text: str) -> Outline:
    """Return the lines with their headings."""
    lines = NEWLINE.split(text)
    return Outline(lines, _marks(lines))


def _marks(lines: Sequence[str]) -> list[Mark]:
    """Return the kind of each line: blank, text, code, a heading, or markup of a heading."""
    marks: list[Mark] = [CODE] * _front_matter_lines(lines)
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
            marks.append(Heading(len(atx.group(1)), _atx_text(line[atx.end() :].strip())))
        elif _is_underline(lines, marks, number):
            marks[-1] = Heading(1 if line.strip().startswith("=") else 2, lines[number - 1].strip())
            marks.append(MARKUP)
        else:
            marks.append(TEXT if line.strip() else BLANK)
    return marks


def _atx_text(text: str) -> str:
    """Return the text of a heading without optional closing `#` signs."""
    opened = text.rstrip("#")
    return opened.rstrip() if not opened or opened[-1].isspace() else text


def _front_matter_lines(lines: Sequence[str]) -> int:
    """Return the number of lines of front matter; text below a horizontal rule is not front matter."""
    start = next((number for number, line in enumerate(lines) if line.strip()), 0)
    ends = FRONT_MATTER.get(lines[start].rstrip(), frozenset[str]())
    end = next((number for number in range(start + 1, len(lines)) if lines[number].rstrip() in ends), start)
    inside = lines[start + 1 : end]
    return end + 1 if any(map(str.strip, inside[:1])) and all(map(FRONT_MATTER_LINE.match, inside)) else 0


def _is_underline(lines: Sequence[str], marks: list[Mark], number: int) -> bool:
    """Tell whether the line underlines a heading of one line, and mark an optional overline above it."""
    if not SETEXT_UNDERLINE.fullmatch(lines[number]) or marks[-1:] != [TEXT] or NO_SETEXT_TEXT.match(lines[number - 1]):
        return False
    if marks[-2:-1] != [TEXT]:
        return True
    if lines[number - 2].strip() != lines[number].strip():
        return False
    marks[-2] = MARKUP
    return True
