"""The rows of the list of conversations."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle

from conversation_mcp.records.found import Listed
from conversation_mcp.searching.snippets import MARK
from conversation_mcp.text import counted, dollars

STATES = {
    "running": "running",
    "interrupted": "interrupted",
    "failed": "not answered",
    "archived": "archived",
}


@dataclass(frozen=True)
class ListRow:
    """A conversation in the list."""

    conversation_id: str
    title: str
    href: str
    updated_at: str
    turns: str
    cost: str
    cost_usd: float
    state: str
    state_words: str
    tags: tuple[str, ...]
    line: tuple[tuple[str, bool], ...]
    """The part that matches, or the last question: texts, and whether each is highlighted."""


def rows_of(found: Iterable[Listed]) -> list[ListRow]:
    """Return the rows, in the order of the conversations."""
    return [_row(each) for each in found]


def _row(each: Listed) -> ListRow:
    place = f"?at={each.message_number}#m{each.message_number}" if each.message_number else ""
    asked = each.last_question if each.last_question != each.title else ""
    line = tuple(highlighted(each.snippet)) if each.snippet else ((asked or "", False),)
    return ListRow(
        conversation_id=each.conversation_id,
        title=each.title,
        href=f"/c/{each.conversation_id}{place}",
        updated_at=each.updated_at,
        turns=counted(each.turn_count, "turn"),
        cost=dollars(each.cost_usd) if each.cost_usd else "",
        cost_usd=each.cost_usd or 0.0,
        state=each.state or "",
        state_words=STATES.get(each.state or "", ""),
        tags=each.tags,
        line=line,
    )


def highlighted(snippet: str) -> Iterator[tuple[str, bool]]:
    """Yield the texts of a snippet, and whether each matches the query."""
    for text, is_match in zip(snippet.split(MARK), cycle((False, True)), strict=False):
        if text:
            yield text, is_match
