"""The rows of memories: how those that differ are written, and the statements that find them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, cast

from conversation_mcp.records.facts import milliseconds_of
from conversation_mcp.records.found import FoundMemory, MemoryFacts, MemoryPage, WantedMemories
from conversation_mcp.records.memory_facts import facts_text, memories_of, remembered, searched_text
from conversation_mcp.records.memory_ids import same_text
from conversation_mcp.searching.likeness import rarest_needed, words_of
from conversation_mcp.searching.words import MAX_TERMS, NO_WORDS, notices_of_left_out
from conversation_mcp.stores.index.queries import title_in
from conversation_mcp.stores.meant_texts import embedding_hash
from conversation_mcp.stores.postgresql.connections import Connection, Database
from conversation_mcp.stores.postgresql.ranking import Condition
from conversation_mcp.stores.postgresql.texts import lexeme, lexemes_of
from conversation_mcp.text import fold, storable

if TYPE_CHECKING:
    from conversation_mcp.records.memories import Memory
    from conversation_mcp.records.models import ConversationId

DROP = "DELETE FROM memories WHERE owner = %s AND slot = %s AND id = ANY(%s)"
ADD = """
    INSERT INTO memories (same, created_milliseconds, tags, lexemes, embedding, facts, id, owner, slot, number)
    SELECT %s, %s, %s, array_to_tsvector(%s::text[]), %s, %s, %s, key.owner, key.slot,
        coalesce((SELECT max(number) FROM memories m WHERE m.owner = key.owner AND m.slot = key.slot), 0) + 1
    FROM (VALUES (%s::text, %s::bigint)) AS key (owner, slot)
"""
CHANGE = """
    UPDATE memories SET same = %s, created_milliseconds = %s, tags = %s, lexemes = array_to_tsvector(%s::text[]),
        embedding = %s, facts = %s
    WHERE id = %s AND owner = %s AND slot = %s
"""
NEWEST_FIRST = """
    SELECT m.slot, m.number, m.id, 0 FROM memories m JOIN conversations c USING (owner, slot)
    WHERE m.owner = %s AND CONDITIONS ORDER BY m.created_milliseconds DESC, c.id DESC, m.number LIMIT %s
"""
BEST_FIRST = """
    WITH hits AS MATERIALIZED (
        SELECT w.slot, w.number, count(*) AS score FROM memory_words w
        WHERE w.owner = %s AND w.word = ANY(%s::text[]) GROUP BY w.slot, w.number
    ),
    least AS (SELECT coalesce((SELECT score FROM hits ORDER BY score DESC OFFSET %s LIMIT 1), 0) AS score)
    SELECT m.slot, m.number, m.id, hits.score::float8 / %s AS score
    FROM least JOIN hits ON hits.score >= least.score
        JOIN memories m USING (slot, number) JOIN conversations c USING (owner, slot)
    WHERE m.owner = %s AND CONDITIONS
    ORDER BY hits.score DESC, m.created_milliseconds DESC, c.id DESC, m.number LIMIT %s
"""
"""No memory is read that has fewer words in common than the last of so many."""
ALL = 2**31
SHARING = """
    WITH asked AS MATERIALIZED (
        SELECT each.word, (
            SELECT count(*) FROM (
                SELECT FROM memory_words w WHERE w.owner = %s AND w.word = each.word LIMIT %s
            ) AS few
        ) AS places FROM unnest(%s::text[]) AS each (word)
    ),
    rare AS MATERIALIZED (SELECT word FROM asked ORDER BY places LIMIT %s),
    best AS MATERIALIZED (
        SELECT w.slot, w.number, count(*) AS score FROM rare CROSS JOIN LATERAL (
            SELECT slot, number FROM memory_words w WHERE w.owner = %s AND w.word = rare.word
            ORDER BY slot DESC, number DESC LIMIT %s
        ) AS w GROUP BY w.slot, w.number ORDER BY score DESC, w.slot DESC, w.number DESC LIMIT %s
    )
    SELECT m.slot, m.number, m.id, best.score::float8
    FROM best JOIN memories m USING (slot, number) JOIN conversations c USING (owner, slot)
    WHERE m.owner = %s AND CONDITIONS
    ORDER BY best.score DESC, m.created_milliseconds DESC, c.id DESC, m.number LIMIT %s
"""
MOST_PLACES = 1_500
"""Of a word that very many memories have, only the newest are looked at."""
FACTS = """
    SELECT m.slot, m.number, m.facts::text, c.id, c.facts::text
    FROM memories m JOIN conversations c USING (owner, slot)
    WHERE owner = %s AND (slot, number) IN (SELECT * FROM unnest(%s::bigint[], %s::integer[]))
"""


class Key(NamedTuple):
    """Where a memory is, its id, and how well its words match."""

    slot: int
    number: int
    memory_id: str
    score: float


class MemoryDifference(NamedTuple):
    """Which rows of a conversation's memories are to be written."""

    gone: Sequence[str]
    """The ids of those that are no longer there, or no longer in their place."""
    changed: Sequence[MemoryFacts]
    added: Sequence[MemoryFacts]
    """Behind all others."""


def difference_of(before: "Sequence[Memory]", after: "Sequence[Memory]", created_at: str) -> MemoryDifference:
    """Return what differs between the memories of a conversation of that time; none stay if any changed places."""
    known, there = _by_id(before), _by_id(after)
    stay = [name for name in known if name in there]
    if stay != [*islice(there, len(stay))]:
        stay = []
    same = {*stay}
    changed = [there[name] for name in stay if there[name] is not known[name] and there[name] != known[name]]
    added = [there[name] for name in there if name not in same]
    return MemoryDifference(
        [name for name in known if name not in same], _facts(changed, created_at), _facts(added, created_at)
    )


def put_difference(connection: Connection, owner: str, slot: int, difference: MemoryDifference) -> None:
    """Write what differs; no row of another memory is read."""
    if difference.gone:
        connection.execute(DROP, (owner, slot, difference.gone))
    if difference.changed:
        with connection.cursor() as cursor:
            cursor.executemany(CHANGE, [(*_columns(each), owner, slot) for each in difference.changed])
    add_memories(connection, owner, slot, difference.added)


def add_memories(connection: Connection, owner: str, slot: int, memories: Iterable[MemoryFacts]) -> None:
    """Add memories behind all others of the conversation."""
    with connection.cursor() as cursor:
        cursor.executemany(ADD, [(*_columns(each), owner, slot) for each in memories])


def _by_id(memories: "Sequence[Memory]") -> "dict[str, Memory]":
    """Return those that have a text; of two with one id the first."""
    found: dict[str, Memory] = {}
    for memory in memories:
        if memory.content.strip():
            found.setdefault(storable(memory.id), memory)
    return found


def _facts(memories: "Sequence[Memory]", created_at: str) -> Sequence[MemoryFacts]:
    data = {"createdAt": created_at, "memories": [memory.data() for memory in memories]}
    return tuple(memories_of(data, milliseconds_of))


def _columns(memory: MemoryFacts) -> tuple[object, ...]:
    return (
        same_text(memory.content),
        memory.created_milliseconds,
        list({fold(tag) for tag in memory.tags}),
        lexemes_of(sorted(words_of(searched_text(memory)))),
        embedding_hash(memory),
        facts_text(memory),
        memory.memory_id,
    )


def look_up_memories(database: Database, wanted: WantedMemories, limit: int, skip: int) -> MemoryPage:
    """Return the memories after the first `skip`: newest first, for a query by how many of its words they have."""
    words = sorted(words_of(wanted.query), key=lambda word: (-len(word), word))
    asked = [lexeme(word) for word in words[:MAX_TERMS]]  # the longer a word, the rarer
    if not asked and wanted.query.strip():
        return MemoryPage((), has_more=False, unreadable_count=0, problems=(), notices=(NO_WORDS,))
    found = _first(database, asked, wanted, skip + limit + 1)
    shown = tuple(_read(database, found[skip : skip + limit]))
    notices = notices_of_left_out(len(words[MAX_TERMS:]))
    return MemoryPage(shown, len(found) > skip + limit, 0, (), notices=notices)


def _first(database: Database, asked: list[str], wanted: WantedMemories, most: int) -> list[Key]:
    """Return so many, each id once: branches have the memories of their originals."""
    taken = most
    while True:
        rows = database.look(*_statement(database.owner, asked, wanted, taken))
        once = dict[str, Key]()
        for row in rows:
            once.setdefault(row[2], Key(*row))
        if len(once) >= most or len(rows) < taken:
            return list(once.values())[:most]
        taken *= 2


def _statement(owner: str, asked: list[str], wanted: WantedMemories, count: int) -> tuple[str, Sequence[object]]:
    """Return what finds so many keys, and its values."""
    filters = _conditions(wanted)
    if not asked:
        return NEWEST_FIRST.replace("CONDITIONS", filters.sql), (owner, *filters.values, count)
    if wanted.least_share:
        best = None if filters.values else count
        rarest = owner, MOST_PLACES, asked, rarest_needed(len(asked), wanted.least_share)
        values = *rarest, owner, MOST_PLACES, best, owner, *filters.values, count
        return SHARING.replace("CONDITIONS", filters.sql), values
    values = owner, asked, ALL if filters.values else count - 1, len(asked), owner, *filters.values, count
    return BEST_FIRST.replace("CONDITIONS", filters.sql), values


def _conditions(wanted: WantedMemories) -> Condition:
    given = {
        "c.id = %s": wanted.conversation_id,
        "m.id = %s": wanted.memory_id,
        "m.same = ANY(%s)": list(wanted.same_texts) or None,
        "m.created_milliseconds >= %s": wanted.since_milliseconds,
        "m.tags @> %s::text[]": list(wanted.tags) or None,
    }
    held = {condition: value for condition, value in given.items() if value is not None}
    return Condition(" AND ".join(held) or "true", tuple(held.values()))


def _read(database: Database, keys: Sequence[Key]) -> Iterator[FoundMemory]:
    """Yield these memories, but those that are gone by now."""
    slots, numbers = [key.slot for key in keys], [key.number for key in keys]
    rows = database.rows(FACTS, slots, numbers)
    known = {(slot, number): (facts, name, listed) for slot, number, facts, name, listed in rows}
    for key in keys:
        if found := known.get((key.slot, key.number)):
            facts, name, listed = found
            yield FoundMemory(remembered(facts), cast("ConversationId", name), title_in(listed), key.score)
