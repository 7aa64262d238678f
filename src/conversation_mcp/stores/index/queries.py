"""The statements that find conversations, newest or best first."""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conversation_mcp.records.found import COMPLETED, Listed, Place, Wanted
from conversation_mcp.stores.index.meant import Fused, fuse
from conversation_mcp.stores.index.memory_rows import NUMBER_BITS
from conversation_mcp.stores.index.rarity import RANKED_MESSAGES, Search

if TYPE_CHECKING:
    import sqlite3

    from conversation_mcp.searching.vectors.near import Neighbourhood

NEWEST_FIRST = """
    SELECT c.stamp, c.facts, NULL FROM conversations c
    WHERE CONDITIONS ORDER BY c.updated DESC, c.id DESC LIMIT ?
"""
ONE = "SELECT c.stamp, c.facts, NULL FROM conversations c WHERE c.id = ? AND c.problem IS NULL LIMIT ?"
BEST_FIRST = """
    SELECT c.stamp, c.facts, hit.number FROM (HITS) hit JOIN conversations c ON c.key = hit.key
    WHERE CONDITIONS ORDER BY hit.score, c.updated DESC, c.id DESC LIMIT ?
"""
"""The smallest rank is the best, and a conversation ranks as its best message."""
AMONG = "AND rowid >> BITS IN (SELECT c.key FROM conversations c WHERE CONDITIONS)".replace("BITS", str(NUMBER_BITS))
SPOKEN = """
    SELECT rowid >> BITS AS key, rowid & ((1 << BITS) - 1) AS number, min(rank) AS score FROM (
        SELECT rowid, rank FROM messages WHERE messages MATCH ? AMONG ORDER BY rowid DESC LIMIT ?
    ) GROUP BY 1
""".replace("BITS", str(NUMBER_BITS))
KEYS = "SELECT key, id FROM conversations WHERE problem IS NULL AND id IN (SELECT value FROM json_each(?))"
FUSED = """
    SELECT json_extract(value, '$[0]') AS key, json_extract(value, '$[1]') AS number,
        json_extract(value, '$[2]') AS score FROM json_each(?)
"""
ALL = -1


@dataclass(frozen=True)
class Row:
    """What the index knows of a conversation, and the stamp of it when it was read."""

    facts: Listed
    stamp: int


Select = Callable[[int], Sequence[Row]]
"""Returns up to that many rows, in order, after the place where the last page ended."""


def newest_first(database: "sqlite3.Connection", wanted: Wanted, place: Place | None) -> Select:
    """Continue after the time and the id of the last conversation shown."""
    conditions, values = _conditions(wanted)
    if place:
        conditions += " AND (c.updated, c.id) < (?, ?)"
        values += [place.updated_milliseconds, place.conversation_id]

    def select(count: int) -> Sequence[Row]:
        return _rows(database, NEWEST_FIRST.replace("CONDITIONS", conditions), values, count)

    return select


def best_first(
    database: "sqlite3.Connection",
    wanted: Wanted,
    search: Search,
    place: Place | None,
    around: "Neighbourhood | None" = None,
) -> tuple[Select, Fused[int] | None]:
    """Rank again for each page, but only what existed at the first, and continue after the last conversation shown.

    With turns around the query, what is near in meaning is ranked, too.
    """
    conditions, values = _conditions(wanted)
    if place:
        conditions += " AND c.updated <= ?"
        values.append(place.newest_milliseconds)

    among, bound = "", [search.match, ALL]
    if search.is_for_newest:
        is_filtered = wanted != Wanted(wanted.query)
        among = AMONG if is_filtered else ""
        bound = [search.match, *(values if is_filtered else ()), RANKED_MESSAGES]
    hits, fused = SPOKEN.replace("AMONG", among).replace("CONDITIONS", conditions), None
    if around:

        def named(ids: Collection[str]) -> dict[int, str]:
            return dict(database.execute(KEYS, (json.dumps(list(ids)),)))

        fused = fuse(database.execute(hits, bound).fetchall(), around, named)
        hits, bound = FUSED, [json.dumps(fused.hits)]
    bound += values
    sql = BEST_FIRST.replace("HITS", hits).replace("CONDITIONS", conditions)

    def select(count: int) -> Sequence[Row]:
        shown = place.shown if place else 0
        rows = _rows(database, sql, bound, shown + count)
        last = next(
            (n for n, row in enumerate(rows, 1) if place and row.facts.conversation_id == place.conversation_id), shown
        )
        if last > shown:  # the one shown last has moved down since: fetch as many more rows
            rows = _rows(database, sql, bound, last + count)
        return rows[last : last + count]

    return select, fused


def row_of(database: "sqlite3.Connection", conversation_id: str) -> Row | None:
    """Return what is known of one conversation; None for one that is unknown or could not be read."""
    return next(iter(_rows(database, ONE, [conversation_id], 1)), None)


def _conditions(wanted: Wanted) -> tuple[str, list[object]]:
    parts, values = ["c.archived = ?"], list[object]([wanted.state == "archived"])
    if wanted.state in ("running", "interrupted"):
        parts.append("c.pending IN ('running', 'interrupted')")  # the turn lock tells which of the two it is
    elif wanted.state == "failed":
        parts.append("c.pending = 'failed'")
    elif wanted.state == "completed":
        parts.append("c.pending IS NULL AND EXISTS (SELECT 1 FROM facets f WHERE f.kind = ? AND f.key = c.key)")
        values.append(COMPLETED)
    if wanted.after_milliseconds is not None:
        parts.append("c.updated >= ?")
        values.append(wanted.after_milliseconds)
    if wanted.before_milliseconds is not None:
        parts.append("c.updated < ?")
        values.append(wanted.before_milliseconds)
    for facet in wanted.facets:
        parts.append("EXISTS (SELECT 1 FROM facets f WHERE f.kind = ? AND f.value = ? AND f.key = c.key)")
        values.extend(facet)
    return " AND ".join(parts), values


def _rows(database: "sqlite3.Connection", sql: str, values: Sequence[object], count: int) -> list[Row]:
    found = database.execute(sql, (*values, count))
    return [Row(_facts(facts, number), stamp) for stamp, facts, number in found]


def _facts(text: str, message_number: int | None) -> Listed:
    data: dict[str, Any] = json.loads(text)
    data["tags"] = tuple(data["tags"])
    return Listed(**data, message_number=message_number or None)


def title_in(text: str) -> str:
    """Return the title in the facts that the index keeps of a conversation."""
    return json.loads(text)["title"]


def newest(database: "sqlite3.Connection") -> int:
    """Return the latest time of a conversation that is not archived."""
    return database.execute("SELECT max(updated) FROM conversations WHERE archived = 0").fetchone()[0] or 0
