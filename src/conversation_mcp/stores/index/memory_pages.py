"""Memories from the index. Those of a conversation that has changed are read again before any of them is returned."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from conversation_mcp.records.found import FoundMemory, MemoryPage, WantedMemories
from conversation_mcp.records.memory_facts import remembered
from conversation_mcp.searching.words import NO_WORDS, expression
from conversation_mcp.stores.index.conversations import StampedConversations
from conversation_mcp.stores.index.memory_rows import NUMBER_BITS
from conversation_mcp.stores.index.pages import problems_of
from conversation_mcp.stores.index.queries import title_in
from conversation_mcp.stores.index.rarity import RANKED_MESSAGES, limits_of, narrowed
from conversation_mcp.stores.index.refresh import standing, take_in

if TYPE_CHECKING:
    import sqlite3

    from conversation_mcp.records.models import ConversationId

FROM = "memories m JOIN conversations c ON c.key = m.row >> BITS".replace("BITS", str(NUMBER_BITS))
NEWEST_FIRST = f"""
    SELECT c.id, c.stamp, m.id, c.facts, m.facts, 0 FROM {FROM}
    WHERE CONDITIONS ORDER BY m.created DESC, m.row DESC LIMIT ?
"""  # noqa: S608 -- parts from this module
BEST_FIRST = f"""
    SELECT c.id, c.stamp, m.id, c.facts, m.facts, -hit.rank FROM (
        SELECT rowid AS row, rank FROM memory_words WHERE memory_words MATCH ? AMONG ORDER BY rowid DESC LIMIT ?
    ) hit JOIN {FROM} WHERE m.row = hit.row AND CONDITIONS ORDER BY hit.rank, m.created DESC, m.row DESC LIMIT ?
"""  # noqa: S608 -- parts from this module
AMONG = f"AND +rowid IN (SELECT m.row FROM {FROM} WHERE CONDITIONS)"  # noqa: S608 -- parts from this module
"""With the plus, what the words match is gone through once; without it, each row that is meant is looked up there."""
ALL = -1
Row = tuple[str, int, str, str, str, float]
"""The id and the stamp of a conversation, the id of a memory, the facts of both, and how well it matches."""


def look_up_memories(
    database: "sqlite3.Connection", conversations: StampedConversations, wanted: WantedMemories, limit: int, skip: int
) -> MemoryPage:
    """Return the memories after the first `skip`: newest first, for a query best first."""
    asked = expression(wanted.query)
    conditions, values = _conditions(wanted)
    sql, bound, notices = NEWEST_FIRST, list(values), list[str]()
    if wanted.query.strip() and not asked.match:
        return _page(database, (), [NO_WORDS])
    if asked.match:
        search = narrowed(database, asked, "memory_words")
        sql = BEST_FIRST.replace("AMONG", AMONG if conditions != "1" else "")
        most = RANKED_MESSAGES if search.is_for_newest else ALL
        bound = [search.match, *(values if conditions != "1" else ()), most, *values]
        notices += (*asked.notices, *limits_of(search, "memories"))
    rows = _up_to_date(database, conversations, sql.replace("CONDITIONS", conditions), bound, skip + limit + 1)
    shown = [_found(row) for row in rows[skip : skip + limit]]
    return _page(database, shown, notices, has_more=len(rows) > skip + limit)


def _up_to_date(
    database: "sqlite3.Connection",
    conversations: StampedConversations,
    sql: str,
    values: Sequence[object],
    wanted_count: int,
) -> list[Row]:
    """Return rows of up to so many ids, of conversations that are as they were read; after stale ones, start over."""
    count, checked = wanted_count, set[str]()
    while True:
        rows = database.execute(sql, (*values, count)).fetchall()
        unchecked = {name: stamp for name, stamp, *_ in rows if name not in checked}
        checked.update(unchecked)
        stamps = conversations.stamps(unchecked)
        if stale := [name for name, stamp in unchecked.items() if stamps.get(name) != stamp]:
            take_in(database, conversations, stale)
            continue
        found = list(_once(rows))
        if len(found) >= wanted_count or len(rows) < count:
            return found[:wanted_count]
        count *= 2  # branches have the memories of their originals


def _once(rows: Sequence[Row]) -> Iterator[Row]:
    seen: set[str] = set()
    for row in rows:
        if row[2] not in seen:
            seen.add(row[2])
            yield row


def _found(row: Row) -> FoundMemory:
    name, _, _, facts, text, score = row
    return FoundMemory(remembered(text), cast("ConversationId", name), title_in(facts), score)


def _conditions(wanted: WantedMemories) -> tuple[str, list[object]]:
    parts, values = list[str](), list[object]()
    given = {
        "c.id = ?": wanted.conversation_id,
        "m.id = ?": wanted.memory_id,
        "m.same IN (SELECT value FROM json_each(?))": json.dumps(wanted.same_texts) if wanted.same_texts else None,
        "m.created >= ?": wanted.since_milliseconds,
    }
    for condition, value in given.items():
        if value is not None:
            parts.append(condition)
            values.append(value)
    for tag in wanted.tags:
        parts.append("EXISTS (SELECT 1 FROM memory_tags t WHERE t.value = ? AND t.row = m.row)")
        values.append(tag)
    return " AND ".join(parts) or "1", values


def _page(
    database: "sqlite3.Connection", found: Sequence[FoundMemory], notices: Sequence[str], *, has_more: bool = False
) -> MemoryPage:
    count, problems = problems_of(database)
    is_complete = standing(database).compared_at is not None
    return MemoryPage(tuple(found), has_more, count, problems, is_complete, tuple(notices))
