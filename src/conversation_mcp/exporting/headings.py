"""Markdown of messages, adapted to go below the headings of an export, so that none of it is taken for the export's."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

DEEPEST_HEADING = 6
SUSPECT_LINE = re.compile(r"^ {0,3}(?:#|```|~~~|<|=|-)", re.MULTILINE)
GONE = "\0"
"""Marks lines to drop. `nested` replaces NUL in the text first, so that no line of it is taken for one."""
RAW_TAGS = "(?:script|pre|style|textarea)"
BLOCK_ENDS = (
    (re.compile(rf"<{RAW_TAGS}(?=[\s>]|\Z)", re.IGNORECASE), re.compile(f"</{RAW_TAGS}>", re.IGNORECASE)),
    (re.compile("<!--"), re.compile("-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile("<![A-Za-z]"), re.compile(">")),
)
"""Raw HTML blocks that do not end at a blank line, and what ends them."""


def nested(text: str, below: int) -> str:
    """Return the text with its headings `below` levels deeper, and its last code block or HTML block closed.

    Headings in quotes and lists are left as they are: they belong to these.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace(GONE, "\ufffd").strip("\n")
    if not SUSPECT_LINE.search(text):
        return text
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").disable("inline")
    lines = _without_open_html(text.split("\n"), parser)
    tokens = _blocks(lines, parser)
    for token in tokens:
        assert token.map  # noqa: S101 -- chosen by it
        first, end = token.map
        if token.type == "heading_open":
            _deepen(lines, first, end, token, below)
        elif token is tokens[-1] and token.type == "fence" and not _is_closed(lines[first:end], token.markup):
            lines.append(token.markup)
    return "\n".join(line for line in lines if line != GONE)


def _blocks(lines: Sequence[str], parser: "MarkdownIt") -> "list[Token]":
    return [token for token in parser.parse("\n".join(lines)) if token.level == 0 and token.map]


def _without_open_html(lines: list[str], parser: "MarkdownIt") -> list[str]:
    """Escape the beginning of an HTML block that is never closed, and would swallow everything after it."""
    last = next(reversed(_blocks(lines, parser)), None)
    while last is not None and last.type == "html_block" and last.map and not _ends("\n".join(lines[last.map[0] :])):
        for place in range(last.map[0], len(lines)):
            if any(begin.match(lines[place].lstrip()) for begin, _ in BLOCK_ENDS):
                lines[place] = lines[place].replace("<", "\\<", 1)
        last = next(reversed(_blocks(lines, parser)), None)
    return lines


def _deepen(lines: list[str], first: int, end: int, token: "Token", below: int) -> None:
    level = min(DEEPEST_HEADING, int(token.tag[1]) + below)
    if token.markup.startswith("#"):
        lines[first] = "#" * level + lines[first].lstrip().lstrip("#")
    else:  # underlined, over one or more lines
        words = " ".join(line.strip() for line in lines[first : end - 1])
        lines[first:end] = ["#" * level + " " + words, *[GONE] * (end - first - 1)]


def _is_closed(block: Sequence[str], fence: str) -> bool:
    last = block[-1].strip()
    return len(block) > 1 and last.startswith(fence) and not last.strip(fence[0])


def _ends(block: str) -> bool:
    for begin, end in BLOCK_ENDS:
        if begin.match(block.lstrip()):
            return end.search(block) is not None
    return True
