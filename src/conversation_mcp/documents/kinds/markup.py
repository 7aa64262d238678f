"""reStructuredText and AsciiDoc as an outline."""

import re
from collections.abc import Sequence

from conversation_mcp.documents.kinds.outline import BLANK, CODE, MARKUP, NEWLINE, TEXT, Heading, Mark, Outline

ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*")
ASCIIDOC_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
ASCIIDOC_FENCE = re.compile(r"(-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,})[ \t]*")


def rst(text: str) -> Outline:
    """Return the lines; a heading is underlined with one repeated sign, and each new sign is a level deeper."""
    lines = NEWLINE.split(text)
    marks: list[Mark] = []
    kinds: list[str] = []
    for number, line in enumerate(lines):
        if _is_underline(lines, marks, number):
            is_overlined = marks[-2:-1] == [TEXT] and lines[number - 2].rstrip() == line.rstrip()
            kind = line[0] * (1 + is_overlined)
            if kind not in kinds:
                kinds.append(kind)
            if is_overlined:
                marks[-2] = MARKUP
            marks[-1] = Heading(kinds.index(kind) + 1, lines[number - 1].strip())
            marks.append(MARKUP)
        else:
            marks.append(TEXT if line.strip() else BLANK)
    return Outline(lines, marks)


def asciidoc(text: str) -> Outline:
    """Return the lines; listings, literal text and comments hold no headings."""
    lines = NEWLINE.split(text)
    marks: list[Mark] = []
    fence = ""
    for line in lines:
        if fence:
            fence = "" if line.rstrip() == fence else fence
            marks.append(CODE)
        elif ASCIIDOC_FENCE.fullmatch(line):
            fence = line.rstrip()
            marks.append(CODE)
        elif heading := ASCIIDOC_HEADING.fullmatch(line):
            marks.append(Heading(len(heading.group(1)), heading.group(2).strip()))
        else:
            marks.append(TEXT if line.strip() else BLANK)
    return Outline(lines, marks)


def _is_underline(lines: Sequence[str], marks: Sequence[Mark], number: int) -> bool:
    line = lines[number]
    if not ADORNMENT.fullmatch(line) or marks[-1:] != [TEXT] or ADORNMENT.fullmatch(lines[number - 1]):
        return False
    above = marks[-2:-1]
    is_alone = above != [TEXT] or bool(ADORNMENT.fullmatch(lines[number - 2]))
    # As in docutils: an underline of four signs or more may be shorter than its title.
    return is_alone and len(line.rstrip()) >= min(4, len(lines[number - 1].rstrip()))
