"""The vectors in PostgreSQL go with what they are made of, at once, and belong to their owner alone."""

import anyio
import psycopg
import pytest
from tests.fixtures.databases import PostgreSQL
from tests.fixtures.library import id_of
from tests.fixtures.numbered import Numbered, named
from tests.fixtures.stores import Clock
from tests.fixtures.vectors import OneEmbedder, WordModel, there

from conversation_mcp.cli.entry import run
from conversation_mcp.embeddings.meaning import Meaning
from conversation_mcp.searching.vectors.base import ModelVectors
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.stores.finder import TextVectors

MODEL = WordModel()
TOLD = "hound barks"
TABLES = ("vector_models", "vector_groups", "vectors")


@pytest.fixture
def kept(postgresql_url: str, clock: Clock) -> Numbered:
    """A conversation with a memory, both with their vectors."""
    shelf = Numbered(open_store(postgresql_url, clock, "ann", is_durable=False))
    shelf.put(1, "hound", "barks", memories=[{"memoryId": "mem-1", "content": TOLD, "createdAt": "2026-01-31"}])
    for texts in (shelf.finder.turns, shelf.finder.remembered):
        made = there(texts)
        list(Meaning(made.vectors, OneEmbedder(MODEL)).steps(made.source))
        assert made.vectors.count(MODEL.name) == 1
    return shelf


def counts(shelf: Numbered) -> tuple[int, ...]:
    return tuple(there(each).vectors.count(MODEL.name) for each in (shelf.finder.turns, shelf.finder.remembered))


def rows_of(postgresql_url: str, owner: str) -> list[int]:
    """Return how many rows of each table a transaction of that owner sees."""
    with psycopg.connect(postgresql_url) as connection:
        connection.execute("SELECT set_config('conversation_mcp.owner', %s, true)", (owner,))
        found = [connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() for table in TABLES]
    connection.close()
    return [row[0] for row in found if row]


def test_the_trash_has_no_vectors(kept: Numbered) -> None:
    trashed = kept.delete(1)
    assert counts(kept) == (0, 0)
    anyio.run(kept.store.trash.restore, trashed)
    assert counts(kept) == (0, 0)  # they are made again


def test_a_transaction_of_another_owner_sees_none_and_with_an_owner_all_go(kept: Numbered, postgresql_url: str) -> None:
    assert (rows_of(postgresql_url, "ann"), rows_of(postgresql_url, "bob")) == ([2, 2, 2], [0, 0, 0])
    anyio.run(kept.store.remove_all)
    assert (rows_of(postgresql_url, "ann"), anyio.run(kept.store.traces)) == ([0, 0, 0], [])


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("turns", "UPDATE conversations SET version = version + 1"),
        ("turns", "DELETE FROM conversations"),
        ("memories", "UPDATE memories SET same = 'other'"),
        ("memories", "DELETE FROM memories"),
    ],
)
def test_while_vectors_of_a_text_are_written_nobody_changes_or_deletes_it(
    database: PostgreSQL, postgresql_url: str, kept: Numbered, kind: str, change: str
) -> None:
    made = there(kept.finder.turns if kind == "turns" else kept.finder.remembered)
    [(group, state)] = made.source.groups()

    def work(rows: ModelVectors) -> None:
        assert rows.state_now(made.source, group) == state
        with pytest.raises(psycopg.errors.LockNotAvailable):
            database.change(postgresql_url, f"SET lock_timeout = '50ms'; {change}")

    made.vectors.write(MODEL.name, "test:words", work)
    database.change(postgresql_url, change)


def test_a_database_that_is_away_is_no_error_of_a_search(
    kept: Numbered, database: PostgreSQL, postgresql_url: str
) -> None:
    made = there(kept.finder.turns)
    database.drop(postgresql_url)
    assert looked(made) == ([], 0, {}, (), {})
    database.admin(f"CREATE DATABASE {postgresql_url.partition('@/')[2].partition('?')[0]}")


def looked(made: TextVectors) -> tuple[object, ...]:
    vectors = made.vectors
    near = vectors.nearest(MODEL.name, MODEL.embed_queries(["hound"])[0], 5).found
    return vectors.models(), vectors.count(MODEL.name), vectors.made(MODEL.name), near, vectors.kin("m", id_of(1), 5)


def test_a_turn_that_is_repeated_elsewhere_is_not_embedded_again(kept: Numbered) -> None:
    kept.put(2, "hound", "barks")
    turns, model = there(kept.finder.turns), WordModel()
    list(Meaning(turns.vectors, OneEmbedder(model)).steps(turns.source))
    assert (model.texts, counts(kept)[0]) == ([], 2)
    query = model.embed_queries(["hound\nbarks"])[0]
    one, two = turns.vectors.nearest(model.name, query, 5).found
    assert {one.group, two.group} == {named(1), named(2)}
    assert one.similarity == pytest.approx(1, abs=0.01) == two.similarity


def test_the_command_index_says_how_many_have_their_vectors_once_there_are_some(
    kept: Numbered, postgresql_url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = {"CONVERSATION_MCP_EMBEDDINGS": "ollama:all-minilm", "OLLAMA_BASE_URL": "http://127.0.0.1:9/v1"}
    for name, value in {"CONVERSATION_MCP_STORE": postgresql_url, **nobody}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.argv", ["conversation-mcp", "index", "--owner", "ann"])
    assert run() == 0
    said = capsys.readouterr().out
    assert "0 of 1 conversations have their vectors" in said
    monkeypatch.setattr("sys.argv", ["conversation-mcp", "index", "--owner", "bob"])
    assert run() == 1
    assert "needs none" in capsys.readouterr().err


def test_vectors_of_another_length_under_the_same_name_are_not_compared(kept: Numbered) -> None:
    kept.put(2, "kettle", "boils")
    turns = there(kept.finder.turns)
    list(Meaning(turns.vectors, OneEmbedder(WordModel(dimensions=50))).steps(turns.source))
    found = turns.vectors.nearest(MODEL.name, MODEL.embed_queries(["kettle"])[0], 5).found
    assert [near.group for near in found] == [named(1)]
