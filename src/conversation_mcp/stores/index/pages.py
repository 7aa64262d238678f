"""Pages of conversations from the index. A row whose conversation has changed is read again before it is returned."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from conversation_mcp.records.found import SHOWN_PROBLEMS, Listed, Page, Place, Wanted, with_state
from conversation_mcp.searching.snippets import snippets
from conversation_mcp.searching.stamped import UNTRUSTED
from conversation_mcp.searching.words import NO_WORDS, expression
from conversation_mcp.stores.index.conversations import StampedConversations
from conversation_mcp.stores.index.queries import Select, best_first, newest, newest_first, row_of
from conversation_mcp.stores.index.rarity import limits_of, narrowed
from conversation_mcp.stores.index.refresh import standing, take_in

if TYPE_CHECKING:
    import sqlite3

    from conversation_mcp.searching.vectors.near import Neighbourhood


def look_up(
    database: "sqlite3.Connection",
    conversations: StampedConversations,
    wanted: Wanted,
    limit: int,
    place: Place | None,
    around: "Neighbourhood | None" = None,
) -> Page:
    """Return the next conversations after a place."""
    asked = expression(wanted.query)
    if wanted.query.strip() and not asked.match:
        return _page(database, (), None, [NO_WORDS])
    notices: list[str] = []
    select, latest, fused = newest_first(database, wanted, place), 0, None
    if asked.match:
        search = narrowed(database, asked)
        select, fused = best_first(database, wanted, search, place, around)
        latest = place.newest_milliseconds if place else newest(database)
        notices += (*asked.notices, *limits_of(search, "messages"))
    found, has_more = _up_to_date(database, conversations, select, wanted, limit)
    if fused:
        found, meant = fused.told(found)
        notices += meant
    following = None
    if has_more:
        shown = (place.shown if place else 0) + len(found)
        last = found[-1]
        following = Place(last.updated_milliseconds, last.conversation_id, shown, latest)
    if asked.match:
        found = list(_with_snippets(conversations, found, asked.match))
    return _page(database, found, following, notices)


def known(database: "sqlite3.Connection", conversations: StampedConversations, conversation_id: str) -> Listed | None:
    """Return the facts of a conversation that has not changed since it was read; else None."""
    row = row_of(database, conversation_id)
    if row is None or row.stamp == UNTRUSTED:
        return None
    return row.facts if conversations.stamps([conversation_id]).get(conversation_id) == row.stamp else None


def _up_to_date(
    database: "sqlite3.Connection", conversations: StampedConversations, select: Select, wanted: Wanted, limit: int
) -> tuple[list[Listed], bool]:
    """Return rows that are up to date, and whether there are more. After stale ones are read again, it starts over."""
    count = limit + 1
    checked: set[str] = set()
    while True:
        rows = select(count)
        unchecked = {row.facts.conversation_id: row.stamp for row in rows if row.facts.conversation_id not in checked}
        checked.update(unchecked)
        stamps = conversations.stamps(unchecked)
        if stale := [name for name, stamp in unchecked.items() if stamps.get(name) != stamp]:
            take_in(database, conversations, stale)
            continue
        seen = (with_state(row.facts, conversations.is_being_answered) for row in rows)
        fitting = [facts for facts in seen if wanted.state in (None, facts.state)]
        if len(fitting) > limit or len(rows) < count:
            return fitting[:limit], len(fitting) > limit
        count *= 2  # the state of a pending turn depends on its lock, so rows drop out only here


def _with_snippets(conversations: StampedConversations, found: Sequence[Listed], match: str) -> Iterator[Listed]:
    texts = [conversations.text(facts.conversation_id, facts.message_number or 0) for facts in found]
    for facts, snippet in zip(found, snippets(texts, match), strict=True):
        yield facts._replace(snippet=snippet)


def problems_of(database: "sqlite3.Connection") -> tuple[int, tuple[str, ...]]:
    """Return how many conversations cannot be read, and why the first few of them."""
    unreadable = database.execute("SELECT count(*) FROM conversations WHERE problem IS NOT NULL").fetchone()[0]
    problems = database.execute(
        "SELECT problem FROM conversations WHERE problem IS NOT NULL ORDER BY id LIMIT ?", (SHOWN_PROBLEMS,)
    )
    return unreadable, tuple(text for (text,) in problems)


def _page(
    database: "sqlite3.Connection", found: Sequence[Listed], following: Place | None, notices: Sequence[str]
) -> Page:
    unreadable, problems = problems_of(database)
    return Page(
        tuple(found),
        following,
        unreadable_count=unreadable,
        problems=problems,
        is_complete=standing(database).compared_at is not None,
        notices=tuple(notices),
    )
