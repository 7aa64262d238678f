"""Looks conversations up. What is returned is as the files are: a row whose file has changed is read again first."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from conversation_mcp.records.found import SHOWN_PROBLEMS, Described, Found, Page, Place, State, Wanted, state_of
from conversation_mcp.searching.snippets import snippets
from conversation_mcp.searching.words import Expression, expression
from conversation_mcp.stores.files.index.queries import Row, Select, best_first, newest, newest_first
from conversation_mcp.stores.files.index.rarity import RANKED_MESSAGES, Search, narrowed
from conversation_mcp.stores.files.index.refresh import standing, take_in
from conversation_mcp.stores.files.index.stamps import Files

if TYPE_CHECKING:
    import sqlite3

Fitting = tuple[Row, State | None]


def look_up(database: "sqlite3.Connection", files: Files, wanted: Wanted, limit: int, place: Place | None) -> Page:
    """Return the next conversations after a place."""
    asked = expression(wanted.query)
    if wanted.query.strip() and not asked.match:
        return _page(database, (), None, ["the query has no word to look for"])
    notices: list[str] = []
    select, latest = newest_first(database, wanted, place), 0
    if asked.match:
        search = narrowed(database, asked)
        select = best_first(database, wanted, search, place)
        latest = place.newest_milliseconds if place else newest(database)
        notices += _limits(asked, search)
    found, has_more = _up_to_date(database, files, select, wanted, limit)
    following = None
    if has_more:
        shown = (place.shown if place else 0) + len(found)
        last = found[-1][0].facts
        following = Place(last.updated_milliseconds, last.conversation_id, shown, latest)
    return _page(database, tuple(_shown(files, found, asked.match)), following, notices)


def _limits(asked: Expression, search: Search) -> Iterator[str]:
    if asked.left_out:
        yield f"the query is long: {asked.left_out} of its words were not looked for"
    if search.is_without_common:
        yield "very common words of the query were not looked for; put words that must be there in quotes"
    if search.is_for_newest:
        yield f"the words are very common: only the newest {RANKED_MESSAGES:,} messages with them were looked at"


def _up_to_date(
    database: "sqlite3.Connection", files: Files, select: Select, wanted: Wanted, limit: int
) -> tuple[list[Fitting], bool]:
    """Return rows that are true, and whether there are more; whatever is stale is taken in and all is asked again."""
    count = limit + 1
    checked: set[str] = set()
    while True:
        rows = select(count)
        unchecked = [row for row in rows if row.conversation_id not in checked]
        checked.update(row.conversation_id for row in unchecked)
        stamps = files.stamps(row.conversation_id for row in unchecked)
        if stale := [row.conversation_id for row in unchecked if stamps.get(row.conversation_id) != row.stamp]:
            take_in(database, files, stale)
            continue
        fitting: list[Fitting] = [
            (row, state)
            for row in rows
            if (state := state_of(row.facts, files.is_being_answered)) == wanted.state or not wanted.state
        ]
        if len(fitting) > limit or len(rows) < count:
            return fitting[:limit], len(fitting) > limit
        count *= 2


def _shown(files: Files, found: Sequence[Fitting], match: str) -> Iterator[Found]:
    if not match:
        yield from (Found(row.facts, state) for row, state in found)
        return
    texts = [_text(files, row) for row, _ in found]
    for (row, state), snippet in zip(found, snippets(texts, match), strict=True):
        yield Found(row.facts, state, snippet, row.number or None)


def _text(files: Files, row: Row) -> str:
    seen = files.read(row.conversation_id)
    texts: Mapping[int, str] = seen.content.texts if seen and isinstance(seen.content, Described) else {}
    return texts.get(row.number or 0, "")


def _page(
    database: "sqlite3.Connection", found: tuple[Found, ...], following: Place | None, notices: Sequence[str]
) -> Page:
    unreadable = database.execute("SELECT count(*) FROM conversations WHERE problem IS NOT NULL").fetchone()[0]
    problems = database.execute(
        "SELECT problem FROM conversations WHERE problem IS NOT NULL ORDER BY id LIMIT ?", (SHOWN_PROBLEMS,)
    )
    return Page(
        found,
        following,
        unreadable_count=unreadable,
        problems=tuple(text for (text,) in problems),
        is_complete=standing(database).compared_at is not None,
        notices=tuple(notices),
    )
