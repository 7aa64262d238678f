"""The rows of memories in PostgreSQL: written where something has changed, read alone, and gone with what is forgotten."""

from collections.abc import Sequence

import anyio
import psycopg
import pytest
from tests.fixtures.databases import PostgreSQL
from tests.fixtures.library import iso_of
from tests.fixtures.numbered import Numbered
from tests.fixtures.stores import Clock

from conversation_mcp.records.found import WantedMemories
from conversation_mcp.stores.catalog import open_store

ROWS = "SELECT id, xmin::text FROM memories ORDER BY number"
ALL = "SELECT memories::text FROM memories"
WORDS = "SELECT word, xmin::text FROM memory_words ORDER BY slot, number, word"


@pytest.fixture
def numbered(postgresql_url: str, clock: Clock) -> Numbered:
    return Numbered(open_store(postgresql_url, clock, is_durable=False))


def rows(postgresql_url: str, sql: str = ROWS) -> list[tuple[str, ...]]:
    with psycopg.connect(postgresql_url) as connection:
        connection.execute("SELECT set_config('conversation_mcp.owner', 'local', true)")
        found = connection.execute(sql.encode()).fetchall()
    connection.close()
    return found


def remember(numbered: Numbered, *names: str, text: str = "apples", archived: bool | None = None) -> None:
    memories = [{"memoryId": name, "content": f"{text} {name}", "createdAt": iso_of(1)} for name in names]
    numbered.put(1, "what?", "that.", memories=memories, **({"archived": True} if archived else {}))


def in_order(numbered: Numbered) -> list[str]:
    return [each.memory.memory_id for each in numbered.finder.memories(WantedMemories(), 9).found]


@pytest.mark.parametrize(
    ("after", "kept"),
    [("abcx", "abc"), ("ac", "ac"), ("bx", "b"), ("xabc", ""), ("cba", "")],
    ids=["added", "forgotten", "both", "before the others", "reordered"],
)
def test_rows_of_memories_that_stay_are_left_as_they_are(
    numbered: Numbered, postgresql_url: str, after: Sequence[str], kept: str
) -> None:
    remember(numbered, *"abc")
    before = rows(postgresql_url)
    remember(numbered, *after)
    now = rows(postgresql_url)
    assert [name for name, _ in now] == in_order(numbered) == list(after)
    assert {name for name, written in now if (name, written) in before} == set(kept)


def test_a_change_of_something_else_writes_no_memory(numbered: Numbered, postgresql_url: str) -> None:
    remember(numbered, *"abc")
    before = rows(postgresql_url)
    remember(numbered, *"abc", archived=True)
    assert rows(postgresql_url) == before


def test_words_are_written_where_a_text_has_changed(numbered: Numbered, postgresql_url: str) -> None:
    said = [{"memoryId": name, "content": f"apples {name}", "createdAt": iso_of(1)} for name in ("one", "two")]
    numbered.put(1, "what?", "that.", memories=said)
    before = rows(postgresql_url, WORDS)
    assert [word for word, _ in before] == ["appl", "one", "appl", "two"]
    numbered.put(1, "what?", "that.", memories=[said[0] | {"metadata": {"from": "a chat"}}, said[1]])
    assert rows(postgresql_url, WORDS) == before
    numbered.put(1, "what?", "that.", memories=[said[0] | {"content": "apples ten"}, said[1]])
    now = rows(postgresql_url, WORDS)
    assert [word for word, _ in now] == ["appl", "ten", "appl", "two"]
    assert now[2:] == before[2:]


def test_a_search_reads_no_conversation(numbered: Numbered, database: PostgreSQL, postgresql_url: str) -> None:
    remember(numbered, *"abc")
    database.change(postgresql_url, "UPDATE conversations SET head = '[]'")
    database.change(postgresql_url, "UPDATE messages SET body = '[]'")
    for wanted in (WantedMemories(), WantedMemories(query="apples b"), WantedMemories(memory_id="b")):
        page = numbered.finder.memories(wanted, 9)
        assert "b" in {each.memory.memory_id for each in page.found}
        assert not page.problems


def test_a_query_of_many_words_is_cut_and_says_so(numbered: Numbered) -> None:
    remember(numbered, "a")
    page = numbered.finder.memories(
        WantedMemories(query=" ".join(f"word{number}" for number in range(70)) + " apples"), 9
    )
    assert page.notices == ("the query is long: 7 of its words were not searched for",)


def test_what_is_forgotten_or_deleted_has_no_row(numbered: Numbered, postgresql_url: str) -> None:
    remember(numbered, *"abc", text="secret")
    remember(numbered, *"ac", text="secret")
    assert ["secret b" in row for (row,) in rows(postgresql_url, ALL)] == [False, False]
    assert [word for word, _ in rows(postgresql_url, WORDS)] == ["a", "secret", "c", "secret"]
    trashed = numbered.delete(1)
    assert rows(postgresql_url, ALL) == rows(postgresql_url, WORDS) == []
    anyio.run(numbered.store.trash.restore, trashed)
    assert (len(rows(postgresql_url, ALL)), len(rows(postgresql_url, WORDS))) == (2, 4)
    anyio.run(numbered.store.trash.remove, numbered.delete(1))
    assert rows(postgresql_url, ALL) == rows(postgresql_url, WORDS) == []
