"""The tables in PostgreSQL: made once, used beside newer ones that allow it, and the trail that nothing changes."""

import json
import threading
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import anyio
import anyio.lowlevel
import psycopg
import pytest
from anyio import to_thread
from tests.fixtures.databases import PostgreSQL
from tests.fixtures.library import id_of, iso_of
from tests.fixtures.numbered import Numbered, named
from tests.fixtures.serving import settings_for
from tests.fixtures.stores import Clock
from tests.fixtures.vectors import OneEmbedder, WordModel, there

from conversation_mcp.background import Background
from conversation_mcp.bootstrap import work_in_background
from conversation_mcp.cli.checks.vectors import check_vectors
from conversation_mcp.cli.entry import run
from conversation_mcp.embeddings.meaning import Meaning
from conversation_mcp.errors import SchemaError
from conversation_mcp.records.audit import AuditEvent
from conversation_mcp.records.found import WantedMemories
from conversation_mcp.searching.vectors.near import Neighbourhood
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.catalog import open_audit, open_store, open_tables
from conversation_mcp.stores.postgresql.audit import TRAIL

FIRST_VERSION = """
    CREATE TABLE conversation_mcp_migrations (
        number integer PRIMARY KEY, done_at timestamptz NOT NULL DEFAULT now()
    );
    INSERT INTO conversation_mcp_migrations (number) VALUES (1)
"""
NEWER = "INSERT INTO conversation_mcp_migrations (number, usable_from) VALUES (99, %s)"


@pytest.fixture
def url(database: PostgreSQL) -> Iterator[str]:
    url = database.empty_database()
    yield url
    database.drop(url)


def executed(url: str, sql: str, *values: object, owner: str = "local") -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        connection.execute("SELECT set_config('conversation_mcp.owner', %s, true)", (owner,))
        found = connection.execute(sql.encode(), values or None)
        rows = found.fetchall() if found.description else []
    connection.close()
    return rows


def test_tables_are_made_once_and_those_of_a_newer_program_are_refused(url: str, clock: Clock) -> None:
    tables = open_tables(url)
    needed = tables.versions().needed
    assert tables.versions() == (0, needed, None)
    with pytest.raises(SchemaError, match=r"tables are missing.* they must be migrated first"):
        open_store(url, clock).finder.ids()
    done: list[list[int]] = []
    threads = [threading.Thread(target=lambda: done.append(tables.migrate())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(done) == [[], [], [], [*range(1, needed + 1)]]
    assert open_store(url, clock).finder.ids() == []
    executed(url, NEWER, needed + 1)
    for refused in (open_store(url, clock).finder.ids, tables.migrate):
        with pytest.raises(SchemaError, match="use a newer version"):
            refused()


def test_a_program_goes_on_with_newer_tables_that_say_it_can(url: str, clock: Clock) -> None:
    tables = open_tables(url)
    tables.migrate()
    needed = tables.versions().needed
    executed(url, NEWER, needed)
    assert tables.versions() == (99, needed, needed)
    assert open_store(url, clock).finder.ids() == []
    assert tables.migrate() == []


def test_tables_of_the_first_version_are_refused_until_they_are_migrated(url: str, clock: Clock) -> None:
    tables = open_tables(url)
    migrated_before(url, 1)
    assert tables.versions().present == 1
    with pytest.raises(SchemaError, match="must be migrated first"):
        open_audit(url, clock).add(AuditEvent("me", "http", "alice", "show"))
    assert tables.migrate() == [*range(2, tables.versions().needed + 1)]
    open_audit(url, clock).add(AuditEvent("me", "http", "alice", "show"))


def test_memories_from_before_there_were_rows_of_them_are_found_once_migrated(url: str, clock: Clock) -> None:
    migrated_before(url, 2)
    for owner in ("local", "alice"):
        remembering(url, owner, 1, f"{owner} keeps apples \0 in a box")
        remembering(url, owner, 2, f"{owner} keeps pears in the trash", deleted_milliseconds=5)
    assert open_tables(url).migrate() == [*range(3, open_tables(url).versions().needed + 1)]
    for owner in ("local", "alice"):
        store = open_store(url, clock, owner)
        assert remembered(store, "apples") == [f"{owner} keeps apples \0 in a box"]
        assert remembered(store, "pears") == []
        [trashed] = anyio.run(store.trash.entries)
        anyio.run(store.trash.restore, trashed)
        assert remembered(store, "pears") == [f"{owner} keeps pears in the trash"]


def migrated_before(url: str, version: int) -> None:
    """Make the tables as the program did that knew no later version."""
    folder = files("conversation_mcp.stores.postgresql").joinpath("migrations")
    scripts = [folder.joinpath(f"{number:04d}.sql").read_text("utf-8") for number in range(1, version + 1)]
    executed(url, "; ".join([*scripts, FIRST_VERSION]))
    executed(url, "INSERT INTO conversation_mcp_migrations (number) SELECT generate_series(2, %s)", version)


def remembering(url: str, owner: str, number: int, memory: str, deleted_milliseconds: int | None = None) -> None:
    """Insert a conversation with a memory, as a program did that had no rows for those."""
    times = {"createdAt": iso_of(1), "updatedAt": iso_of(1), "messageCount": 0}
    head = json.dumps({"conversationId": id_of(number), **times, "memories": [{"content": memory}]}, indent=2)
    executed(url, "INSERT INTO owners (owner) VALUES (%s) ON CONFLICT DO NOTHING", owner)
    sql = """
        INSERT INTO conversations (owner, id, changed_at, version, head, facts, deleted_milliseconds)
        VALUES (%s, %s, now(), 1, %s, '{"title": "any"}', %s)
    """
    executed(url, sql, owner, id_of(number), head, deleted_milliseconds, owner=owner)


def remembered(store: Store, query: str) -> list[str]:
    return [each.memory.content for each in store.finder.memories(WantedMemories(query=query), 9).found]


def test_no_owner_sees_the_audit_trail_and_no_statement_changes_it(url: str, clock: Clock) -> None:
    open_tables(url).migrate()
    trail = open_audit(url, clock)
    trail.add(AuditEvent("me", "http", "alice", "show"))
    lines = [*trail.lines()]
    for owner in ("alice", "local", ""):
        assert executed(url, "SELECT * FROM audit_lines", owner=owner) == []
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            executed(url, "INSERT INTO audit_lines VALUES (2, 'x')", owner=owner)
    for change in ("UPDATE audit_lines SET line = 'x'", "DELETE FROM audit_lines", "TRUNCATE audit_lines"):
        with pytest.raises(psycopg.errors.RaiseException, match="only added"):
            executed(url, change, owner=TRAIL)
    assert [*trail.lines()] == lines


def test_words_alone_are_found_until_the_extension_is_there_and_everything_says_so(
    database: PostgreSQL,
    url: str,
    clock: Clock,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables = open_tables(url)
    tables.migrate()
    shelf = Numbered(open_store(url, clock))
    shelf.put(1, "hound barks", "loudly")
    finder = shelf.finder
    assert (finder.turns, finder.remembered, shelf.numbers("hound")) == (None, None, [1])
    finder.erase([named(1)])
    assert "CREATE EXTENSION vector" in (tables.without_meaning() or "")
    [finding] = check_vectors(settings_for(tmp_path, store=url, embeddings="auto"))
    assert (finding.state, "CREATE EXTENSION vector" in finding.text) == ("warn", True)
    assert [*check_vectors(settings_for(tmp_path, store=url, embeddings="off"))] == []
    for command in ("status", "migrate"):
        monkeypatch.setattr("sys.argv", ["conversation-mcp", "database", command, "--url", url])
        assert run() == 0
        assert "CREATE EXTENSION vector" in capsys.readouterr().err
    database.change(url, "CREATE EXTENSION vector")
    assert "database migrate" in (tables.without_meaning() or "")
    assert (tables.migrate(), tables.without_meaning()) == ([], None)
    turns, model = there(finder.turns), WordModel()
    list(Meaning(turns.vectors, OneEmbedder(model)).steps(turns.source))
    assert turns.vectors.count(model.name) == 1
    database.change(url, "DROP EXTENSION vector CASCADE")
    assert turns.vectors.nearest(model.name, model.embed_queries(["hound"])[0], 10) == Neighbourhood()
    assert open_store(url, clock).finder.turns is None
    database.change(url, "CREATE EXTENSION vector")
    tables.migrate()
    assert turns.vectors.models() == []


async def test_a_server_says_once_at_its_start_that_words_alone_find(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await to_thread.run_sync(open_tables(url).migrate)
    settings = settings_for(tmp_path, store=url, embeddings="auto")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work_in_background, settings, Background(nothing))
        while not caplog.messages:
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert ["CREATE EXTENSION vector" in message for message in caplog.messages] == [True]


async def nothing(owner: str) -> None:
    """Do no work for an owner."""
    del owner
