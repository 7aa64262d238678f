"""Markdown rendered for a terminal."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from rich.console import Console

    Block = list[Token]

LEFT_LITERAL = ("html_inline", "html_block", "image", "reference")
"""Syntax that is left as written, because rich would drop its words or addresses."""


def blocks_of(text: str) -> "list[Block]":
    """Return the blocks of a text: paragraphs, lists, tables, code."""
    blocks: list[Block] = []
    for token in _parser().parse(text):
        if token.level == 0 and token.nesting >= 0:
            blocks.append([])
        blocks[-1].append(token)
    return blocks


def lines_of(blocks: "list[Block]", screen: "Console") -> list[str]:
    """Return the blocks as lines of a terminal, with colours."""
    from rich.markdown import Markdown

    page = Markdown("", hyperlinks=False)  # addresses are printed as text, which every terminal can show
    page.parsed = [token for block in blocks for token in block]
    with screen.capture() as capture:
        screen.print(page)
    return [line.rstrip(" ") for line in capture.get().split("\n")[:-1]]


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt().enable(["strikethrough", "table"]).disable(list(LEFT_LITERAL))
