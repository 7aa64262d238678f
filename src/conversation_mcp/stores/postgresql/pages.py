"""The statements that find conversations, newest, largest or best first."""

import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from conversation_mcp.records.found import COMPLETED, Listed, Page, Place, Wanted
from conversation_mcp.searching.snippets import snippets
from conversation_mcp.searching.words import NO_WORDS, Expression, expression
from conversation_mcp.stores.index.meant import Fused, fuse
from conversation_mcp.stores.postgresql.connections import Database
from conversation_mcp.stores.postgresql.facets import facet_text
from conversation_mcp.stores.postgresql.ranking import Condition, ranking

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.near import Neighbourhood

# No statement looks into a column of JSON: what was typed may have a NUL, which PostgreSQL cannot make a text of.
HELD = """EXISTS (
    SELECT 1 FROM leases l WHERE l.owner = c.owner AND l.name = 'turn:' || c.id AND l.expires_at > clock_timestamp()
)"""
STATE = f"""CASE WHEN c.archived THEN 'archived'
    WHEN c.pending = 'running' AND NOT c.runs_at_provider AND NOT {HELD} THEN 'interrupted'
    ELSE coalesce(c.pending, CASE WHEN '{facet_text(COMPLETED, COMPLETED)}' = ANY(c.facets) THEN 'completed' END) END"""
LISTED = f"SELECT c.facts::text, {STATE}, NULL FROM conversations c WHERE "
NEWEST = """
    SELECT coalesce(max(updated_milliseconds), 0) FROM conversations
    WHERE owner = %s AND deleted_milliseconds IS NULL AND head IS NOT NULL AND NOT archived
"""
BEST_OF_EACH = "best AS (SELECT DISTINCT ON (slot) slot, number, score FROM hits ORDER BY slot, score, number DESC)"
SPOKEN = """
    WITH RANKED SELECT c.id, best.number, best.score
    FROM best JOIN conversations c ON c.owner = %s AND c.slot = best.slot AND c.deleted_milliseconds IS NULL
"""
FUSED = """
    best AS (
        SELECT c.slot, hit.number, hit.score
        FROM unnest(%s::text[], %s::integer[], %s::float8[]) AS hit (id, number, score)
        JOIN conversations c ON c.owner = %s AND c.id = hit.id AND c.deleted_milliseconds IS NULL
    )
"""
BEST = f"""
    WITH RANKED
    SELECT c.facts::text, {STATE}, best.number, ({NEWEST})
    FROM best JOIN conversations c ON c.owner = %s AND c.slot = best.slot
    WHERE CONDITIONS ORDER BY best.score, c.updated_milliseconds DESC, c.id DESC LIMIT %s
"""
TEXTS = """
    SELECT c.id, m.body::text, CASE WHEN m.body IS NULL THEN c.head::text END
    FROM unnest(%s::text[], %s::integer[]) AS wanted (id, number)
    JOIN conversations c ON c.owner = %s AND c.id = wanted.id AND c.deleted_milliseconds IS NULL
    LEFT JOIN messages m ON m.owner = c.owner AND m.slot = c.slot AND m.number = wanted.number
"""


class Pages:
    """Makes pages; each takes one look at the database, and another one for the texts that fit a query.

    Where meaning counts, one more look finds what has the words.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def look_up(self, wanted: Wanted, limit: int, place: Place | None, around: "Neighbourhood | None" = None) -> Page:
        """Return the next conversations after a place."""
        asked = expression(wanted.query)
        if asked.match:
            return self._best_first(wanted, asked, limit, place, around)
        if wanted.query.strip():
            return _page((), None, (NO_WORDS,))
        return self.newest_first(wanted, limit, place)

    def newest_first(self, wanted: Wanted, limit: int | None, place: Place | None = None, begins: str = "") -> Page:
        """Continue after the time and the id of the last conversation shown."""
        sql, values = self._conditions(wanted)
        if place:
            sql += " AND (c.updated_milliseconds, c.id) < (%s, %s)"
            values = (*values, place.updated_milliseconds, place.conversation_id)
        sql += " AND starts_with(c.id, %s) ORDER BY c.updated_milliseconds DESC, c.id DESC LIMIT %s"
        found = self._rows(LISTED + sql, (*values, begins, None if limit is None else limit + 1))
        shown = found[:limit]
        return _page(shown, Place(*_age(shown[-1])) if 0 < len(shown) < len(found) else None)

    def largest_first(self, limit: int | None) -> Page:
        """Return those with the most bytes."""
        sql, values = self._conditions(Wanted())
        return _page(self._rows(f"{LISTED}{sql} ORDER BY c.size_bytes DESC, c.id DESC LIMIT %s", (*values, limit)))

    def of_ids(self, ids: list[str]) -> list[Listed]:
        """Return what lists show of these, in their order."""
        sql = f"{LISTED}c.owner = %s AND c.deleted_milliseconds IS NULL AND c.head IS NOT NULL AND c.id = ANY(%s)"
        known = {each.conversation_id: each for each in self._rows(sql, (self._database.owner, ids))}
        return [known[each]._replace(state=None) for each in ids if each in known]

    def _best_first(
        self, wanted: Wanted, asked: Expression, limit: int, place: Place | None, around: "Neighbourhood | None"
    ) -> Page:
        """Rank anew, but only what existed at the first page, and continue after the last conversation shown."""
        ranks, fused = self._ranks(asked, around)
        if ranks is None:
            return _page((), None, asked.notices)
        already = place.shown if place else 0
        begin, (found, newest) = already, self._ranked(wanted, ranks, place, already + limit + 1)
        last = next(
            (n for n, each in enumerate(found, 1) if place and each.conversation_id == place.conversation_id), 0
        )
        if last > already:  # the one shown last has moved down since
            begin, (found, newest) = last, self._ranked(wanted, ranks, place, last + limit + 1)
        elif last:
            begin = last
        shown = found[begin : begin + limit]
        has_more = 0 < len(shown) < len(found) - begin
        following = Place(*_age(shown[-1]), begin + len(shown), newest) if has_more else None
        shown, meant = fused.told(shown) if fused else (shown, ())
        return _page(self._with_snippets(shown, asked.match), following, (*asked.notices, *meant))

    def _ranks(self, asked: Expression, around: "Neighbourhood | None") -> tuple[Condition | None, "Fused[str] | None"]:
        """Return the tables that end in `best`: what words find, and with turns around the query what is near it."""
        owner = self._database.owner
        ranks = ranking(owner, asked)
        if ranks is not None:
            ranks = ranks._replace(sql=f"{ranks.sql}, {BEST_OF_EACH}")
        if around is None:
            return ranks, None
        spoken = self._database.look(SPOKEN.replace("RANKED", ranks.sql), (*ranks.values, owner)) if ranks else []
        fused = fuse(((str(name), number, score) for name, number, score in spoken), around, _by_id)
        ids, numbers, scores = zip(*fused.hits, strict=True) if fused.hits else ((), (), ())
        return Condition(FUSED, (list(ids), list(numbers), list(scores), owner)), fused

    def _ranked(self, wanted: Wanted, ranks: Condition, place: Place | None, count: int) -> tuple[list[Listed], int]:
        """Return the best, and the time of the newest at the first page."""
        owner = self._database.owner
        sql, values = self._conditions(wanted)
        if place:
            sql += " AND c.updated_milliseconds <= %s"
            values = (*values, place.newest_milliseconds)
        statement = BEST.replace("RANKED", ranks.sql).replace("CONDITIONS", sql)
        rows = self._database.look(statement, (*ranks.values, owner, owner, *values, count))
        newest = place.newest_milliseconds if place else next((row[3] for row in rows), 0)
        return [_listed(*row[:3]) for row in rows], newest

    def _conditions(self, wanted: Wanted) -> Condition:
        parts = ["c.owner = %s", "c.deleted_milliseconds IS NULL", "c.head IS NOT NULL", "c.archived = %s"]
        values: list[Any] = [self._database.owner, wanted.state == "archived"]
        if wanted.state not in (None, "archived"):
            parts.append(f"{STATE} = %s")
            values.append(wanted.state)
        for sign, bound in ((">=", wanted.after_milliseconds), ("<", wanted.before_milliseconds)):
            if bound is not None:
                parts.append(f"c.updated_milliseconds {sign} %s")
                values.append(bound)
        if wanted.facets:
            parts.append("c.facets @> %s::text[]")
            values.append([facet_text(*facet) for facet in wanted.facets])
        return Condition(" AND ".join(parts), tuple(values))

    def _rows(self, sql: str, values: tuple[Any, ...]) -> list[Listed]:
        return [_listed(*row) for row in self._database.look(sql, values)]

    def _with_snippets(self, shown: list[Listed], match: str) -> list[Listed]:
        if not shown:
            return []
        ids, numbers = [each.conversation_id for each in shown], [each.message_number or 0 for each in shown]
        rows = self._database.look(TEXTS, (ids, numbers, self._database.owner))
        known = {name: _text(body, head) for name, body, head in rows}
        texts = [known.get(name, "") for name in ids]
        return [each._replace(snippet=snippet) for each, snippet in zip(shown, snippets(texts, match), strict=True)]


def _by_id(ids: Collection[str]) -> dict[str, str]:
    """Return conversations by their keys, which are their ids."""
    return {each: each for each in ids}


def _text(body: str | None, head: str | None) -> str:
    """Return the text of the message, or the one outside of messages."""
    if body is not None:
        return str(json.loads(body)["content"])
    from conversation_mcp.records.facts import text_beside

    return text_beside(json.loads(head or "{}"))


def _listed(facts: str, state: Any, number: int | None) -> Listed:  # noqa: ANN401 -- as the database returns it
    data: dict[str, Any] = json.loads(facts)
    data["tags"] = tuple(data["tags"])
    data["state"] = state
    data["message_number"] = number or None
    return Listed(**data)


def _page(found: list[Listed] | tuple[()], following: Place | None = None, notices: tuple[str, ...] = ()) -> Page:
    return Page(tuple(found), following, unreadable_count=0, problems=(), notices=notices)


def _age(listed: Listed) -> tuple[int, str]:
    return listed.updated_milliseconds, listed.conversation_id
