"""Lists of conversations: which, in which order, and what is said of those that cannot be read."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dirty_equals import IsPartialDict
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from tests.fixtures.cli import Here, on_terminal, put_conversation
from tests.fixtures.folders import ID, left_behind
from tests.fixtures.library import Shelf, child, output_of
from tests.fixtures.stores import public_folder

from conversation_mcp.cli.output.rows import row_data, table_of
from conversation_mcp.records.ids import id_at
from conversation_mcp.records.titles import title_of
from conversation_mcp.stores.files.newest import newest
from conversation_mcp.stores.files.vault import PlainVault

OTHER, THIRD, FOURTH = "20260201-1769904000000", "20260202-1769990400000", "20260203-1770076800000"
LONG_BEFORE = 1_000_000_000
NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    return Here(capsys, monkeypatch, tmp_path)


def logs(folder: Path) -> Path:
    return folder / "conversation-logs"


def ids(folder: Path, limit: int | None = None) -> list[str]:
    return [found.conversation_id for found in newest(logs(folder), PlainVault(logs(folder)), limit).found]


def test_a_pipe_gets_a_line_with_tabs_for_each_conversation_newest_first(here: Here, tmp_path: Path) -> None:
    put_conversation(tmp_path, OTHER, updatedAt="2026-02-01T00:00:00.000Z", title="Tabs\tand\nlines")
    left_behind(tmp_path)
    put_conversation(tmp_path, THIRD, tags=["one", "two"], archived=True)
    put_conversation(tmp_path, FOURTH, tags=["one", "two"], parent={"conversationId": ID, "messageCount": 3})
    assert here("list").out.replace("\t", "|") == snapshot("""\
20260201-1769904000000|2026-02-01T00:00:00.000Z|1|$0.0031|answered|Tabs and lines||
20260203-1770076800000|2026-01-31T00:00:00.000Z|1||answered|What is a B-tree?|one,two|20260131-1769817600000
20260131-1769817600000|2026-01-31T00:00:00.000Z|1||interrupted|one?||
""")


def test_tags_state_and_branches_have_columns_of_their_own_where_there_are_any(tmp_path: Path) -> None:
    put_conversation(tmp_path, OTHER)
    plain = table_of(newest(logs(tmp_path), PlainVault(logs(tmp_path))).found, 200, NOW, has_header=True, last_id=None)
    assert [column.header for column in plain.columns] == ["when", "turns", "cost", "title", "id"]
    pending = {"question": "two?", "status": "failed", "error": {"code": "X", "message": "Broken."}}
    put_conversation(tmp_path, FOURTH, tags=["one"], parent={"conversationId": OTHER}, pendingTurn=pending)
    rows = table_of(
        newest(logs(tmp_path), PlainVault(logs(tmp_path))).found, 200, NOW, has_header=True, last_id=None
    ).columns
    assert {column.header: list(column.cells) for column in rows if column.header not in ("when", "id")} == snapshot(
        {
            "turns": ["1", "1"],
            "cost": ["$0.0031", "$0.0031"],
            "state": ["failed", ""],
            "title": ["What is a B-tree?", "What is a B-tree?"],
            "tags": ["one", ""],
            "": ["question not answered: Broken.", ""],
            "branch of": ["20260201-1769904000000", ""],
        }
    )
    narrow = table_of(newest(logs(tmp_path), PlainVault(logs(tmp_path))).found, 60, NOW, has_header=True, last_id=None)
    assert [column.header for column in narrow.columns] == ["when", "turns", "cost", "state", "title"]


def test_paths_are_a_line_each_and_nothing_else(here: Here, tmp_path: Path) -> None:
    paths = [
        put_conversation(tmp_path, each, updatedAt=f"2026-02-0{n}T00:00:00.000Z") for n, each in ((1, ID), (2, OTHER))
    ]
    assert here("list", "--paths").out == f"{paths[1]}\n{paths[0]}\n"
    assert here("show", "last", "--paths").out == f"{paths[1]}\n"
    assert here("show", "last", "--paths", "--raw").code == here("list", "--paths", "--json").code == 2


def test_json_has_everything_that_is_known(here: Here, tmp_path: Path) -> None:
    put_conversation(tmp_path, ID)
    data = json.loads(here("list", "--json").out)
    data["conversations"][0]["conversationPath"] = "PATH"
    assert data == snapshot(
        {
            "conversations": [
                {
                    "conversationId": "20260131-1769817600000",
                    "title": "What is a B-tree?",
                    "createdAt": "2026-01-31T00:00:00.000Z",
                    "updatedAt": "2026-01-31T00:00:00.000Z",
                    "messageCount": 3,
                    "turnCount": 1,
                    "lastQuestion": "What is a B-tree?",
                    "costUsd": 0.0031,
                    "sizeBytes": 441,
                    "tool": "search",
                    "conversationPath": "PATH",
                }
            ],
            "unreadableCount": 0,
        }
    )


def test_a_question_without_an_answer_shows_what_became_of_it(tmp_path: Path) -> None:
    error = {"code": "PROVIDER_QUOTA", "message": "out of credit."}
    left_behind(tmp_path, status="failed", error=error, usage={"costUsd": 0.5})
    (found,) = newest(logs(tmp_path), PlainVault(logs(tmp_path))).found
    assert row_data(found, "conversation.json") == IsPartialDict(
        state="failed", problem="out of credit.", tool="deep_research_followup", turnCount=1, costUsd=0.5
    )


def test_an_empty_folder_and_no_folder_are_empty_lists(here: Here, tmp_path: Path) -> None:
    assert here("list").out == ""
    assert json.loads(here("list", "--json").out)["conversations"] == []
    logs(tmp_path).mkdir()
    assert (here("list").code, here("list").out) == (0, "")


@pytest.mark.parametrize(
    "damage",
    [
        "{",
        "[]",
        "null",
        '{"conversationId": "x"}',
        '{"conversationId":"x","createdAt":"x","updatedAt":"2026-01-31","messageCount":0,"messages":[]}',
        '{"conversationId":"x","createdAt":"2026-01-31","updatedAt":"x","messageCount":0,"messages":[]}',
        '{"conversationId":"x","createdAt":"2026-01-31","updatedAt":"2026-01-31","messageCount":NaN,"messages":[]}',
        '{"conversationId":"x","createdAt":"2026-01-31","updatedAt":"2026-01-31","messageCount":0,"messages":[{"role":"user"}]}',
        '{"conversationId":"x","createdAt":"2026-01-31","updatedAt":"2026-01-31","messageCount":0,"messages":[],"pendingTurn":7}',
    ],
)
def test_a_damaged_file_is_skipped_and_named(here: Here, tmp_path: Path, damage: str) -> None:
    put_conversation(tmp_path, ID)
    path = put_conversation(tmp_path, OTHER)
    path.write_text(damage, encoding="utf-8")
    for command in (["list"], ["search", "tree"]):
        ended = here(*command)
        assert ended.code == 0
        assert [line.split("\t")[0] for line in ended.out.splitlines()] == [ID]
        assert ended.err.startswith(f"Notice: a conversation that cannot be read was skipped: {path} ")
    assert path.read_text(encoding="utf-8") == damage


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("locked", ["conversation.json", "."])
def test_a_conversation_that_others_may_not_read_is_skipped_and_named(locked: str) -> None:
    with public_folder() as folder:
        shelf = Shelf(folder)
        for number in range(3):
            shelf.put(number, "apples?")
        for path in (shelf.root, *shelf.root.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        (shelf.path(1).parent / locked).chmod(0)
        found, unreadable, *notice = output_of(child("newest-as-nobody", folder)).split()
    assert (found, unreadable) == ("2", "1")
    assert " ".join(notice).endswith("permission denied")


def test_a_file_as_an_editor_may_leave_it_is_listed(tmp_path: Path) -> None:
    path = put_conversation(tmp_path, ID, title="Half \ud83d of a pair", updatedAt="2026-01-31T12:00:00")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b",", b",\r\n") + b"\r\n")
    (found,) = newest(logs(tmp_path), PlainVault(logs(tmp_path))).found
    assert (found.title, found.turn_count) == ("Half � of a pair", 1)


def test_what_is_no_conversation_is_not_looked_at(tmp_path: Path) -> None:
    put_conversation(tmp_path, ID)
    for name in ("20260131-1769817600000 (1)", ".locks", "notes", OTHER):
        (logs(tmp_path) / name).mkdir()
    (logs(tmp_path) / THIRD).write_text("a file", encoding="utf-8")
    page = newest(logs(tmp_path), PlainVault(logs(tmp_path)))
    assert (len(page.found), page.unreadable_count) == (1, 0)


def test_the_latest_change_comes_first_whatever_the_file_system_says(tmp_path: Path) -> None:
    for number, conversation_id in enumerate((ID, OTHER, THIRD)):
        path = put_conversation(tmp_path, conversation_id, updatedAt=f"2026-01-0{3 - number}T00:00:00.000Z")
        os.utime(path, (1_800_000_000 + number, 1_800_000_000 + number))
    assert ids(tmp_path) == ids(tmp_path, 3) == [ID, OTHER, THIRD]
    assert ids(tmp_path, 1) == [ID]
    assert ids(tmp_path, 2) == [ID, OTHER]


def test_a_short_list_reads_no_file_that_cannot_be_in_it(tmp_path: Path) -> None:
    put_conversation(tmp_path, ID)
    old = put_conversation(tmp_path, OTHER)
    old.write_text("never read", encoding="utf-8")
    os.utime(old, (LONG_BEFORE, LONG_BEFORE))
    for conversation_id in (THIRD, FOURTH):
        put_conversation(tmp_path, conversation_id)
    assert newest(logs(tmp_path), PlainVault(logs(tmp_path)), 2).unreadable_count == 0
    assert newest(logs(tmp_path), PlainVault(logs(tmp_path)), 3).unreadable_count == 1


@given(
    times=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=8),
    limit=st.integers(0, 9),
)
@settings(max_examples=50, deadline=None)
def test_a_short_list_is_the_start_of_the_long_one(
    tmp_path_factory: pytest.TempPathFactory, times: list[tuple[int, int]], limit: int
) -> None:
    folder = tmp_path_factory.mktemp("lists")
    for number, (day, later) in enumerate(times):
        path = put_conversation(folder, f"20260131-{number:013}", updatedAt=f"2026-01-1{day}T00:00:00Z")
        written = 1_768_003_200 + 86_400 * (day + later)
        os.utime(path, (written, written))
    assert ids(folder, limit) == ids(folder)[:limit]


def test_a_title_is_the_one_that_was_set_or_the_first_question_cut_at_a_word() -> None:
    assert title_of("Mine", ["first?"]) == "Mine"
    assert title_of(None, ["", "  first\n\nquestion?"]) == "first question?"
    assert title_of(None, ["word " * 40]) == "word " * 14 + "word…"
    assert title_of(None, ["\x1b]0;evil\x07title"]) == "]0;evil title"
    assert title_of(" ", []) == "(empty)"


@pytest.mark.slow
def test_the_largest_files_come_first_when_they_are_asked_for(here: Here, tmp_path: Path) -> None:
    for number, size in enumerate((10, 30_000, 500)):
        put_conversation(tmp_path, id_at(1769817600000 + number), note="x" * size)
    put_conversation(tmp_path, id_at(1769817600009), note="x" * 90_000, archived=True)
    order = [id_at(1769817600000 + number) for number in (1, 2, 0)]
    assert [line.partition("\t")[0] for line in here("list", "--largest").out.splitlines()] == order
    shown = json.loads(here("list", "--largest", "--limit", "2", "--json").out)["conversations"]
    assert [row["conversationId"] for row in shown] == order[:2]
    for row in shown:
        assert row["sizeBytes"] == Path(row["conversationPath"]).stat().st_size
    screen = on_terminal(tmp_path, "list", "--largest", columns=120).out
    assert [line.split()[0] for line in screen.splitlines()[-4:]] == ["size", "30", "1", "1"]
    wrong = here("list", "--largest", "--tag", "a")
    assert (wrong.code, wrong.err) == (2, "VALIDATION_ERROR: --largest cannot be combined with filters or --cursor.\n")


def test_json_has_the_tokens_from_the_files_and_from_the_index_alike(here: Here, tmp_path: Path) -> None:
    used = {"role": "assistant", "content": "So.", "usage": {"inputTokens": 4000, "outputTokens": 300}}
    put_conversation(tmp_path, id_at(1769817600000), messages=[used, used], tags=["a"])
    put_conversation(tmp_path, id_at(1769817600001), tags=["a"])
    plain = json.loads(here("list", "--json").out)["conversations"]
    assert [(row.get("inputTokens"), row.get("outputTokens")) for row in plain] == [(None, None), (8000, 600)]
    assert json.loads(here("list", "--json", "--tag", "a").out)["conversations"] == plain
