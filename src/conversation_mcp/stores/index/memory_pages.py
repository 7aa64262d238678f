"""Memories from the index. Those of a conversation that has changed are read again before any of them is returned."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from conversation_mcp.records.found import FoundMemory, MemoryPage, WantedMemories
from conversation_mcp.records.memory_facts import remembered
from conversation_mcp.searching.words import NO_WORDS, Expression, expression
from conversation_mcp.stores.index.conversations import StampedConversations
from conversation_mcp.stores.index.memory_rows import NUMBER_BITS
from conversation_mcp.stores.index.pages import problems_of
from conversation_mcp.stores.index.queries import title_in
from conversation_mcp.stores.index.rarity import RANKED_MESSAGES, RARE_MESSAGES, limits_of, narrowed, rarest
from conversation_mcp.stores.index.refresh import standing, take_in

if TYPE_CHECKING:
    import sqlite3

    from conversation_mcp.records.models import ConversationId

FROM = "memories m JOIN conversations c ON c.key = m.row >> BITS".replace("BITS", str(NUMBER_BITS))
KEY = "c.id, c.stamp, m.id, m.row"
NEWEST_FIRST = f"""
    SELECT {KEY}, 0 FROM {FROM} WHERE CONDITIONS ORDER BY m.created DESC, m.row DESC LIMIT ?
"""  # noqa: S608 -- parts from this module
BEST_FIRST = f"""
    SELECT {KEY}, -hit.rank FROM (
        SELECT rowid AS row, rank FROM memory_words WHERE memory_words MATCH ? AND AMONG ORDER BY rowid DESC LIMIT ?
    ) hit JOIN {FROM} WHERE m.row = hit.row AND CONDITIONS ORDER BY hit.rank, m.created DESC, m.row DESC LIMIT ?
"""  # noqa: S608 -- parts from this module
SHARING = f"""
    SELECT {KEY}, best.score FROM (
        SELECT row, count(*) AS score FROM (WITH_WORDS) WHERE AMONG GROUP BY row ORDER BY score DESC, row DESC LIMIT ?
    ) best JOIN {FROM} WHERE m.row = best.row ORDER BY best.score DESC, m.created DESC, m.row DESC
"""  # noqa: S608 -- parts from this module
WITH_WORD = """
    SELECT * FROM (SELECT rowid AS row FROM memory_words WHERE memory_words MATCH ? ORDER BY rowid DESC LIMIT ?)
"""
AMONG = f"+ROW IN (SELECT m.row FROM {FROM} WHERE CONDITIONS)"  # noqa: S608 -- parts from this module
"""With the plus, what the words match is gone through once; without it, each row that is meant is looked up there."""
FACTS = f"""
    SELECT m.row, m.id, c.facts, m.facts FROM {FROM} WHERE m.row IN (SELECT value FROM json_each(?))
"""  # noqa: S608 -- parts from this module
ALL = -1
Key = tuple[str, int, str, int, float]
"""The id and the stamp of a conversation, the id of a memory, its row, and how well it matches."""


class Select(NamedTuple):
    """The statement that finds keys, its values but the number of keys, and what a reader of them must know."""

    sql: str
    values: Sequence[object]
    notices: Sequence[str] = ()


def look_up_memories(
    database: "sqlite3.Connection", conversations: StampedConversations, wanted: WantedMemories, limit: int, skip: int
) -> MemoryPage:
    """Return the memories after the first `skip`: newest first, for a query best first."""
    asked = expression(wanted.query)
    if wanted.query.strip() and not asked.match:
        return _page(database, (), [NO_WORDS])
    select = _select(database, wanted, asked)
    if select is None:
        return _page(database, (), ())
    keys = _up_to_date(database, conversations, select, skip + limit + 1)
    shown = list(_found(database, keys[skip : skip + limit]))
    return _page(database, shown, select.notices, has_more=len(keys) > skip + limit)


def _select(database: "sqlite3.Connection", wanted: WantedMemories, asked: Expression) -> Select | None:
    """Return what finds the memories; None if there are none."""
    conditions, values = _conditions(wanted)
    is_filtered = conditions != "1"
    among = AMONG if is_filtered else "1"
    if wanted.least_share:
        words = rarest(database, wanted.query, wanted.least_share, "memory_words")
        sql = SHARING.replace("AMONG", among.replace("ROW", "row")).replace("CONDITIONS", conditions)
        sql = sql.replace("WITH_WORDS", " UNION ALL ".join([WITH_WORD] * len(words)))
        bound = (value for word in words for value in (word, RARE_MESSAGES))
        return Select(sql, (*bound, *values)) if words else None
    if asked.match:
        search = narrowed(database, asked, "memory_words")
        sql = BEST_FIRST.replace("AMONG", among.replace("ROW", "rowid")).replace("CONDITIONS", conditions)
        most = RANKED_MESSAGES if search.is_for_newest else ALL
        bound = search.match, *(values if is_filtered else ()), most, *values
        return Select(sql, bound, (*asked.notices, *limits_of(search, "memories")))
    return Select(NEWEST_FIRST.replace("CONDITIONS", conditions), values)


def _up_to_date(
    database: "sqlite3.Connection",
    conversations: StampedConversations,
    select: Select,
    wanted_count: int,
) -> list[Key]:
    """Return keys of up to so many ids, of conversations that are as they were read; after stale ones, start over."""
    count, checked = wanted_count, set[str]()
    while True:
        rows = database.execute(select.sql, (*select.values, count)).fetchall()
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


def _once(rows: Sequence[Key]) -> Iterator[Key]:
    seen: set[str] = set()
    for row in rows:
        if row[2] not in seen:
            seen.add(row[2])
            yield row


def _found(database: "sqlite3.Connection", keys: Sequence[Key]) -> Iterator[FoundMemory]:
    """Read the facts of those that are shown, but not of what another process has replaced since."""
    rows = json.dumps([row for *_, row, _ in keys])
    known = {(row, memory_id): facts for row, memory_id, *facts in database.execute(FACTS, (rows,))}
    for name, _, memory_id, row, score in keys:
        if found := known.get((row, memory_id)):
            facts, text = found
            yield FoundMemory(remembered(text), cast("ConversationId", name), title_in(facts), score)


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
