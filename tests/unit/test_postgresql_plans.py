"""No statement that finds conversations reads rows of other owners, whatever there are of them."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import psycopg
import pytest
from anyio import to_thread
from tests.fixtures.databases import PostgreSQL
from tests.fixtures.stores import Clock, conversation
from tests.fixtures.vectors import OneEmbedder, WordModel, there

from conversation_mcp.embeddings.meaning import Meaning
from conversation_mcp.records.found import Wanted, WantedMemories
from conversation_mcp.records.memories import Memory
from conversation_mcp.searching.vectors.near import Neighbourhood
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.stores.finder import Finder
from conversation_mcp.stores.postgresql.connections import Database

OWNER = "ann"
OWN_CONVERSATIONS, OWN_ROWS = 30, 120
"""The most rows are the words of its memories."""
OTHERS = (
    "SET session_replication_role = replica",
    "INSERT INTO owners (owner) SELECT 'user-' || number FROM generate_series(1, 50) AS number",
    """INSERT INTO conversations (owner, slot, id, changed_at, version, head, facts)
    SELECT 'user-' || number, slot + 1000 * number, id, changed_at, version, head, facts
    FROM conversations, generate_series(1, 50) AS number""",
    """INSERT INTO messages (owner, slot, number, body) SELECT 'user-' || copy, slot + 1000 * copy, number, body
    FROM messages, generate_series(1, 50) AS copy""",
    """INSERT INTO words (owner, slot, number, word_count, line)
    SELECT 'user-' || copy, slot + 1000 * copy, number, word_count, line FROM words, generate_series(1, 50) AS copy""",
    """INSERT INTO memories (owner, slot, number, id, same, created_milliseconds, tags, lexemes, facts)
    SELECT 'user-' || copy, slot + 1000 * copy, number, id, same, created_milliseconds, tags, lexemes, facts
    FROM memories, generate_series(1, 50) AS copy""",
    """INSERT INTO memory_words (owner, word, slot, number) SELECT 'user-' || copy, word, slot + 1000 * copy, number
    FROM memory_words, generate_series(1, 50) AS copy""",
    """INSERT INTO vector_models (owner, kind, name, choice) SELECT 'user-' || copy, kind, name, choice
    FROM vector_models, generate_series(1, 50) AS copy""",
    """INSERT INTO vector_groups (owner, model, name, slot, state)
    SELECT m.owner, m.model, g.name, g.slot + 1000 * substr(m.owner, 6)::integer, g.state
    FROM vector_groups g, vector_models m WHERE m.owner <> g.owner""",
    """INSERT INTO vectors (owner, model, name, item, digest, numbers)
    SELECT m.owner, m.model, v.name, v.item, v.digest, v.numbers
    FROM vectors v, vector_models m WHERE m.owner <> v.owner""",
    "ANALYZE",
)
LARGE = ("conversations", "messages", "words", "memories", "memory_words", "vector_groups", "vectors")
MODEL = WordModel()


@pytest.fixture
async def url(database: PostgreSQL, clock: Clock) -> AsyncIterator[str]:
    """A database in which one of fifty owners is looked at."""
    url = database.database()
    store = open_store(url, clock, OWNER, is_durable=False)
    for number in range(OWN_CONVERSATIONS):
        made = conversation(await store.reserve(), f"What of apples {number}?", "Apples and trees.", "So?")
        memory = Memory.of(memory_id=f"mem-{number}", content=f"Apples of tree {number}.", created_at=made.created_at)
        await store.create(made.changed(memories=(memory,)))
    await to_thread.run_sync(make_vectors, store.finder)
    for sql in OTHERS[1:-1]:
        await to_thread.run_sync(database.change, url, f"{OTHERS[0]}; {sql}")
    await to_thread.run_sync(database.change, url, OTHERS[-1])
    yield url
    database.drop(url)


def make_vectors(finder: Finder) -> None:
    turns = there(finder.turns)
    list(Meaning(turns.vectors, OneEmbedder(MODEL)).steps(turns.source))


def near(finder: Finder, *within: str) -> Neighbourhood:
    query = MODEL.embed_queries(["apples"])[0]
    return there(finder.turns).vectors.nearest(MODEL.name, query, 10, within or None)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


def plans(url: str, statements: Sequence[tuple[str, Sequence[object]]]) -> Iterator[dict[str, Any]]:
    """Yield the parts of the plans that were followed."""
    with psycopg.connect(url) as connection:
        connection.execute("SELECT set_config('conversation_mcp.owner', %s, true)", (OWNER,))
        for sql, values in statements:
            explained = f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}".encode()
            with psycopg.ClientCursor(connection) as cursor:
                [(found,)] = cursor.execute(explained, values).fetchall()
            yield from nodes((json.loads(found) if isinstance(found, str) else found)[0]["Plan"])
    connection.close()


LOOKS: tuple[Callable[[Finder], object], ...] = (
    lambda finder: finder.page(Wanted(), 10),
    lambda finder: finder.page(Wanted(), 10, finder.page(Wanted(), 10).next),
    lambda finder: finder.page(Wanted("apples trees"), 10),
    lambda finder: finder.page(Wanted('"and trees"'), 10),
    lambda finder: finder.newest(10),
    lambda finder: finder.largest(10),
    lambda finder: finder.ids(),
    lambda finder: near(finder).found,
    lambda finder: near(finder, *finder.ids()[:2]).found,
    lambda finder: finder.page(Wanted("apples trees"), 10, None, near(finder)),
    lambda finder: finder.memories(WantedMemories(), 10).found,
    lambda finder: finder.memories(WantedMemories("apples trees"), 10).found,
    lambda finder: finder.memories(WantedMemories("the apples of tree 7", least_share=0.5), 10).found,
    lambda finder: there(finder.turns).vectors.kin(MODEL.name, finder.ids()[0], 10),
    lambda finder: there(finder.turns).vectors.count(MODEL.name),
    lambda finder: there(finder.turns).vectors.made(MODEL.name),
    lambda finder: there(finder.turns).vectors.size_bytes(),
)


async def test_no_look_reads_rows_of_other_owners(url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, Sequence[object]]] = []
    real = Database.look

    def watched(self: Database, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        seen.append((sql, values))
        return real(self, sql, values)

    monkeypatch.setattr(Database, "look", watched)
    finder = open_store(url, clock, OWNER).finder
    for look in LOOKS:
        assert await to_thread.run_sync(look, finder)
    parts = await to_thread.run_sync(lambda: list(plans(url, seen)))
    tables = [part for part in parts if part.get("Relation Name") in LARGE]
    assert {part["Relation Name"] for part in tables} == set(LARGE)
    for part in tables:
        assert part["Node Type"] != "Seq Scan", part
        read = part["Actual Rows"] * part["Actual Loops"] + part.get("Rows Removed by Filter", 0)
        assert read <= OWN_ROWS, part
