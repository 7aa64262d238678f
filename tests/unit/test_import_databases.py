"""Databases of llm in every age and state."""

import sqlite3
from pathlib import Path

import pytest
from anyio import to_thread
from tests.fixtures.exports.files import put_database
from tests.fixtures.exports.imported import bring_in, name_of, said_in, stored_in
from tests.fixtures.exports.programs import LLM_FRAGMENTS, LLM_OLD, LLM_ROWS, LLM_SCHEMA
from tests.fixtures.odd_exports import put_and_bring_in, reasons
from tests.fixtures.stores import tree

DROPPED = "DROP TABLE fragments; DROP TABLE turns;"
BROKEN = "UPDATE messages SET parent_hash = 'gone' WHERE role = 'assistant';"
DATABASES: list[tuple[str, set[str]]] = [
        (LLM_OLD, {"Old talk", "Alone?", "Sum up"}),
        (LLM_SCHEMA + LLM_ROWS, {"Sum up"}),
        (LLM_SCHEMA + LLM_ROWS + DROPPED, {"Sum up"}),
        (LLM_SCHEMA + LLM_ROWS + BROKEN, {"Sum up"}),
        (LLM_SCHEMA, set()),
        ("CREATE TABLE log(provider, system, prompt, chat_id, response, model, timestamp); INSERT INTO log VALUES ('x', NULL, 'Hi', NULL, 'Hello.', 'm', '2023-04-01T00:00:00');", {"Hi"}),
        ("CREATE TABLE logs(id INTEGER PRIMARY KEY, model, prompt, system, response, chat_id, datetime_utc); INSERT INTO logs VALUES (1, 'm', 'Hi', NULL, 'Hello.', 7, NULL), (2, 'm', 'More', NULL, 'Sure.', 7, NULL);", {"Hi"}),
        ("CREATE TABLE responses(other); INSERT INTO responses VALUES (1);", set()),
]  # fmt: skip


@pytest.mark.parametrize(("script", "titles"), DATABASES)
async def test_every_age_of_llms_database_is_read(tmp_path: Path, script: str, titles: set[str]) -> None:
    source = await to_thread.run_sync(put_database, tmp_path / "logs.db", script)
    await bring_in(source, tmp_path)
    assert {name_of(conversation) for conversation in await stored_in(tmp_path)} == titles
    assert {path for path in tree(tmp_path) if path.startswith("logs.db")} == {"logs.db"}


async def test_what_a_prompt_of_llm_refers_to_is_in_the_question(tmp_path: Path) -> None:
    source = await to_thread.run_sync(put_database, tmp_path / "logs.db", LLM_FRAGMENTS)
    report = await bring_in(source, tmp_path)
    (conversation,) = await stored_in(tmp_path)
    assert said_in(conversation) == (
        ("system", "Be brief."),
        ("user", "Bees dance to show the way."),
        ("assistant", "They do."),
        ("user", "Ants use scent.\nWasps too.\none line"),
        ("assistant", "With scent."),
        (
            "user",
            "(attachment not imported: image/png)\n(attachment not imported: a file without a name)",
        ),
        ("assistant", "A picture."),
    )
    assert +report.left_out == {
        "attachments": 2,
        "tool messages": 1,
        "fragments that are missing": 1,
        "later system texts": 1,
    }


async def test_parts_and_roles_of_llm_that_nobody_knows_are_counted_by_their_names(tmp_path: Path) -> None:
    odd = """
    INSERT INTO messages VALUES ('b2:3', 'b2:2', 'critic', NULL);
    INSERT INTO parts VALUES (7, 'b2:3', 0, 'text', NULL, 'Hm.', NULL), (8, 'b2:2', 3, 'citation', NULL, 'A page', NULL);
    UPDATE threads SET tip_message_hash = 'b2:3' WHERE id = 't1';
    """
    source = await to_thread.run_sync(put_database, tmp_path / "logs.db", LLM_SCHEMA + LLM_ROWS + odd)
    report = await bring_in(source, tmp_path)
    assert (report.left_out["critic"], report.left_out["citation"]) == (1, 1)


async def test_a_database_with_a_journal_is_read_through_it(tmp_path: Path) -> None:
    writer = await to_thread.run_sync(lambda: sqlite3.connect(tmp_path / "logs.db", check_same_thread=False))
    writer.execute("PRAGMA journal_mode=WAL")
    writer.executescript(LLM_OLD)
    writer.commit()
    report = await bring_in(tmp_path / "logs.db", tmp_path)
    writer.close()
    assert report.counts["imported"] == 3


@pytest.mark.parametrize("data", [b"SQLite format 3\0" + b"\xff" * 5000, b"SQLite format 3\0"])
async def test_a_database_that_is_none_is_told(tmp_path: Path, data: bytes) -> None:
    report = await put_and_bring_in(tmp_path, data, "logs.db")
    assert "cannot be read as a database" in reasons(report)[0]
