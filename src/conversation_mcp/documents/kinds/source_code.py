"""Source code as an outline: definitions are headings of the lines indented below them."""

import re

from conversation_mcp.documents.formats import Language
from conversation_mcp.documents.kinds.outline import BLANK, CODE, NEWLINE, Heading, Mark, Outline

MAX_LINE_CHARS = 500
TAB_SPACES = 8
# A line that begins like this belongs to the definition above, although it is not indented below it.
GOES_ON = re.compile(
    r"[)\]}]|end\b|else\b|elif\b|except\b|finally\b|catch\b|rescue\b|then\b|done\b|fi\b|esac\b|\"\"\"|'''"
)


def source_code(text: str, language: Language, name: str) -> Outline:
    """Return the lines; comments and decorators right above a definition belong to it."""
    lines = NEWLINE.split(text)
    marks: list[Mark] = []
    trail: list[int] = []
    for line in lines:
        level = _indentation(line)
        if not line.strip():
            marks.append(BLANK)
        elif defined := _defined(line, language):
            trail = [above for above in trail if above < level] + [level]
            _mark_definition(marks, lines, level, defined, language)
        elif trail and level <= trail[-1] and marks[-1] == BLANK and not GOES_ON.match(line.lstrip()):
            trail = [above for above in trail if above < level]
            marks.append(Heading(level, "", is_text=True))
        else:
            marks.append(CODE)
    return Outline(lines, marks, title=name)


def plain(text: str, name: str) -> Outline:
    """Return the lines of a file whose format has no headings."""
    lines = NEWLINE.split(text)
    return Outline(lines, [CODE if line.strip() else BLANK for line in lines], title=name)


def _defined(line: str, language: Language) -> str:
    """Return the name that a line defines; empty if it is not a definition."""
    found = language.definition.match(line) if len(line) <= MAX_LINE_CHARS else None
    return next((name for name in found.groupdict().values() if name), "") if found else ""


def _mark_definition(marks: list[Mark], lines: list[str], level: int, name: str, language: Language) -> None:
    first = len(marks)
    while first and _is_above(marks[first - 1], lines[first - 1], level, language):
        first -= 1
    heading = Heading(level, name, is_text=True)
    marks[first:] = [heading, *[CODE] * (len(marks) - first)]


def _is_above(mark: Mark, line: str, level: int, language: Language) -> bool:
    is_plain = mark == CODE or (isinstance(mark, Heading) and not mark.text)
    return is_plain and _indentation(line) == level and line.lstrip().startswith(language.above)


def _indentation(line: str) -> int:
    expanded = line[: len(line) - len(line.lstrip())].expandtabs(TAB_SPACES)
    return len(expanded)
