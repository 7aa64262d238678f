"""The rows of memories: how those that differ are written, and the statements that find them."""

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, cast

from conversation_mcp.records.found import FoundMemory, MemoryFacts, MemoryPage, WantedMemories
from conversation_mcp.records.memory_facts import facts_text, remembered, searched_text
from conversation_mcp.records.memory_ids import same_text
from conversation_mcp.searching.likeness import words_of
from conversation_mcp.searching.words import MAX_TERMS, NO_WORDS, notices_of_left_out
from conversation_mcp.stores.index.queries import title_in
from conversation_mcp.stores.postgresql.connections import Connection, Database
from conversation_mcp.stores.postgresql.ranking import Condition
from conversation_mcp.stores.postgresql.texts import lexeme, lexemes_of, quoted
from conversation_mcp.text import fold

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId

KNOWN = "SELECT id, number, facts::text FROM memories WHERE owner = %s AND slot = %s ORDER BY number"
DROP = "DELETE FROM memories WHERE owner = %s AND slot = %s AND number = ANY(%s)"
PUT = """
    INSERT INTO memories (owner, slot, number, id, same, created_milliseconds, tags, lexemes, facts)
    VALUES (%s, %s, %s, %s, %s, %s, %s, array_to_tsvector(%s::text[]), %s)
    ON CONFLICT (owner, slot, number) DO UPDATE SET same = excluded.same, tags = excluded.tags, facts = excluded.facts,
        created_milliseconds = excluded.created_milliseconds, lexemes = excluded.lexemes
"""
COMMON = "length(m.lexemes) - length(ts_delete(m.lexemes, %s::text[]))"
"""How many of these lexemes a memory has."""
FOUND = """
    SELECT m.slot, m.number, m.id, SCORE AS score FROM memories m JOIN conversations c USING (owner, slot)
    WHERE m.owner = %s AND CONDITIONS
    ORDER BY score DESC, m.created_milliseconds DESC, c.id DESC, m.number LIMIT %s
"""
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


def put_memories(connection: Connection, database: Database, slot: int, memories: Sequence[MemoryFacts]) -> None:
    """Write the memories of a conversation; only those that have changed, unless they changed places."""
    texts = {each.memory_id: facts_text(each) for each in memories}
    rows = connection.execute(KNOWN, (database.owner, slot)).fetchall()
    stay = [name for name, _, _ in rows if name in texts]
    if stay != list(texts)[: len(stay)]:
        stay = []
    known = {name: (number, text) for name, number, text in rows if name in texts and stay}
    if gone := [number for name, number, _ in rows if name not in known]:
        connection.execute(DROP, (database.owner, slot, gone))
    last = rows[-1][1] if rows else 0
    new = dict(zip(list(texts)[len(stay) :], count(last + 1), strict=False))
    numbers = {**{name: number for name, (number, _) in known.items()}, **new}
    changed = {name: number for name, number in numbers.items() if known.get(name) != (number, texts[name])}
    with connection.cursor() as cursor:
        cursor.executemany(
            PUT,
            [
                (database.owner, slot, changed[each.memory_id], *_columns(database, each), texts[each.memory_id])
                for each in memories
                if each.memory_id in changed
            ],
        )


def _columns(database: Database, memory: MemoryFacts) -> tuple[object, ...]:
    return (
        memory.memory_id,
        same_text(memory.content),
        memory.created_milliseconds,
        list({fold(tag) for tag in memory.tags}),
        lexemes_of(database, sorted(words_of(searched_text(memory)))),
    )


def look_up_memories(
    connection: Connection, database: Database, wanted: WantedMemories, limit: int, skip: int
) -> MemoryPage:
    """Return the memories after the first `skip`: newest first, for a query by how many of its words they have."""
    words = sorted(words_of(wanted.query), key=lambda word: (-len(word), word))
    asked = [lexeme(database, word) for word in words[:MAX_TERMS]]  # the longer a word, the rarer
    if not asked and wanted.query.strip():
        return MemoryPage((), has_more=False, unreadable_count=0, problems=(), notices=(NO_WORDS,))
    found = _first(connection, database, asked, wanted, skip + limit + 1)
    shown = _read(connection, database, found[skip : skip + limit])
    notices = notices_of_left_out(len(words[MAX_TERMS:]))
    return MemoryPage(shown, len(found) > skip + limit, 0, (), notices=notices)


def _first(
    connection: Connection, database: Database, asked: list[str], wanted: WantedMemories, most: int
) -> list[Key]:
    """Return so many, each id once: branches have the memories of their originals."""
    score = Condition(f"({COMMON})::float8 / {len(asked)}", (asked,)) if asked else Condition("0", ())
    conditions = _conditions(wanted, asked)
    sql = FOUND.replace("SCORE", score.sql).replace("CONDITIONS", conditions.sql).encode()
    taken = most
    while True:
        rows = connection.execute(sql, (*score.values, database.owner, *conditions.values, taken)).fetchall()
        once = dict[str, Key]()
        for row in rows:
            once.setdefault(row[2], Key(*row))
        if len(once) >= most or len(rows) < taken:
            return list(once.values())[:most]
        taken *= 2


def _conditions(wanted: WantedMemories, asked: list[str]) -> Condition:
    given = {
        "m.lexemes @@ %s::tsquery": " | ".join(map(quoted, asked)) or None,
        "c.id = %s": wanted.conversation_id,
        "m.id = %s": wanted.memory_id,
        "m.same = ANY(%s)": list(wanted.same_texts) or None,
        "m.created_milliseconds >= %s": wanted.since_milliseconds,
        "m.tags @> %s::text[]": list(wanted.tags) or None,
    }
    held = {condition: value for condition, value in given.items() if value is not None}
    return Condition(" AND ".join(held) or "true", tuple(held.values()))


def _read(connection: Connection, database: Database, keys: Sequence[Key]) -> tuple[FoundMemory, ...]:
    slots, numbers = [key.slot for key in keys], [key.number for key in keys]
    rows = connection.execute(FACTS, (database.owner, slots, numbers)).fetchall()
    known = {(slot, number): (facts, name, listed) for slot, number, facts, name, listed in rows}
    found: list[FoundMemory] = []
    for key in keys:
        facts, name, listed = known[key.slot, key.number]
        found.append(FoundMemory(remembered(facts), cast("ConversationId", name), title_in(listed), key.score))
    return tuple(found)
