"""What the database of simonw/llm holds beside its threads is counted, and each table is gone through once."""

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.exports.files import put_database
from tests.fixtures.exports.imported import bring_in
from tests.fixtures.exports.programs import LLM_FRAGMENTS, LLM_OLD, LLM_ROWS, LLM_SCHEMA

from conversation_mcp.importing.base import ReadOptions
from conversation_mcp.importing.formats.llm import read
from conversation_mcp.importing.sources import list_files
from conversation_mcp.records.ids import EPOCH

ROW = """
INSERT INTO responses VALUES ('x$n', 'm', 'One?', NULL, 'One.', 'k$n', '2026-01-01T00:00:00', 1, 1);
INSERT INTO tool_calls VALUES (9 + $n, 'x$n', 'look', '{}');
INSERT INTO prompt_fragments VALUES ('x$n', 1, 0);
"""


async def test_rows_of_older_versions_beside_a_thread_are_counted_unless_it_has_their_answers(tmp_path: Path) -> None:
    rows = """
    INSERT INTO responses VALUES ('o4', 'm', 'Before?', NULL, 'Before.', 't1', '2025-03-01T08:00:00', 1, 2),
      ('o5', 'm', 'Sum up', NULL, 'Bees dance.', 't1', '2025-03-01T08:01:00', 1, 2);
    """
    source = put_database(tmp_path / "logs.db", LLM_SCHEMA + LLM_ROWS + LLM_OLD + rows)
    report = await bring_in(source, tmp_path)
    assert report.left_out["responses"] == 1


async def test_messages_that_no_thread_reaches_are_counted(tmp_path: Path) -> None:
    rows = """
    INSERT INTO messages VALUES ('b2:8', 'b2:1', 'assistant', NULL), ('b2:9', 'b2:1', 'assistant', NULL);
    INSERT INTO parts VALUES (8, 'b2:8', 0, 'text', NULL, 'Another answer.', NULL);
    """
    report = await bring_in(put_database(tmp_path / "logs.db", LLM_SCHEMA + LLM_ROWS + rows), tmp_path)
    assert (report.left_out["messages of no thread"], report.counts["empty"]) == (1, 0)


@pytest.mark.slow
def test_the_work_on_old_tables_without_indexes_grows_as_they_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: Counter[str] = Counter()
    connect = sqlite3.connect

    def counted(*args: Any, **options: Any) -> sqlite3.Connection:
        database = connect(*args, **options)
        database.set_progress_handler(lambda: steps.update(taken=1), 100)
        return database

    def taken(count: int) -> int:
        rows = "".join(ROW.replace("$n", str(n)) for n in range(count))
        listing = list_files(put_database(tmp_path / f"{count}.db", LLM_FRAGMENTS + rows))
        steps.clear()
        with monkeypatch.context() as patch:
            patch.setattr(sqlite3, "connect", counted)
            assert sum(1 for _ in read(listing.files, ReadOptions(EPOCH.replace(year=2026)))) == count + 1
        return steps["taken"]

    assert taken(400) < 3 * taken(200)
