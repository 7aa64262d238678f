"""Markdown as a terminal shows it."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from rich.console import Console

    Block = list[Token]

LEFT_LITERAL = ("html_inline", "html_block", "image", "reference")
"""What rich would leave out with its words or its address stands there as it was written."""


def blocks_of(text: str) -> "list[Block]":
    """Return the parts of a text that stand below each other: paragraphs, lists, tables, code."""
    blocks: list[Block] = []
    for token in _parser().parse(text):
        if token.level == 0 and token.nesting >= 0:
            blocks.append([])
        blocks[-1].append(token)
    return blocks


def lines_of(blocks: "list[Block]", screen: "Console") -> list[str]:
    """Return the lines that a terminal shows of the blocks, with its colours."""
    from rich.markdown import Markdown

    page = Markdown("", hyperlinks=False)
    page.parsed = [token for block in blocks for token in block]
    with screen.capture() as capture:
        screen.print(page)
    return [line.rstrip(" ") for line in capture.get().split("\n")[:-1]]


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt().enable(["strikethrough", "table"]).disable(list(LEFT_LITERAL))
