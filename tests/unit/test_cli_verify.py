"""Whether everything that is kept is whole: what is told, and that nothing is changed by looking."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from tests.benchmarks.corpus import Corpus
from tests.fixtures.cli import Here, put_conversation
from tests.fixtures.folders import ID, left_behind
from tests.fixtures.library import Shelf

from conversation_mcp.cli.checks.library import check_library
from conversation_mcp.disk.locks import LockFolder
from conversation_mcp.stores.headway import Headway

OTHER, GONE, TRASHED = "20260201-1769904000000", "20260202-1769990400000", "20260203-1770076800000"
LONG_AGO = 1_000_000_000


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    return Here(capsys, monkeypatch, tmp_path)


def logs(folder: Path) -> Path:
    return folder / "conversation-logs"


def database() -> Path:
    (path,) = Path(os.environ["XDG_CACHE_HOME"]).rglob("index.db")
    return path


def everything(*folders: Path) -> dict[Path, tuple[bytes, int]]:
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def last_of(shelf: Shelf) -> str:
    return list(check_library(shelf.finder))[-1].line()


def verified(here: Here, code: int) -> str:
    """Return what is printed, twice the same, without the folder and without a change to anything."""
    folders = (logs(here.folder), Path(os.environ["XDG_CACHE_HOME"]))
    before = everything(*folders)
    ended = here("verify")
    assert (ended.code, ended.err) == (code, "")
    assert here("verify") == ended
    assert everything(*folders) == before
    return ended.out.replace(str(logs(here.folder)), "LOGS").replace(os.environ["XDG_CACHE_HOME"], "CACHE")


def test_no_folder_and_an_empty_one_are_in_order(here: Here, tmp_path: Path) -> None:
    assert verified(here, 0) == snapshot("  ok    there is no folder LOGS yet; it is made at the first question\n")
    logs(tmp_path).mkdir()
    assert verified(here, 0) == snapshot("""\
  ok    0 conversations in LOGS, all can be read
  ok    there is no index yet; the first search makes it
""")


def test_what_is_in_order_is_said_in_few_lines(here: Here, tmp_path: Path) -> None:
    put_conversation(tmp_path, ID)
    put_conversation(tmp_path, OTHER)
    here("index", "--rebuild")
    assert verified(here, 0).splitlines()[0] == snapshot("  ok    2 conversations in LOGS, all can be read")


def test_files_that_cannot_be_read_are_named_and_fail(here: Here, tmp_path: Path) -> None:
    put_conversation(tmp_path, ID)
    put_conversation(tmp_path, OTHER).write_text("{", encoding="utf-8")
    assert verified(here, 1) == snapshot("""\
  fail  LOGS/20260201-1769904000000/conversation.json is not valid JSON at line 1, column 2 (byte 2).
  fail  2 conversations in LOGS, 1 cannot be read; mend them by hand or restore a copy
  ok    there is no index yet; the first search makes it
""")


def test_messages_out_of_order_are_named(here: Here, tmp_path: Path) -> None:
    roles = ["assistant", "user", "user", "assistant", "tool", "assistant", "system", "user"]
    messages = [{"role": role, "content": "" if number == 3 else "text"} for number, role in enumerate(roles)]
    put_conversation(tmp_path, ID, messages=messages)
    put_conversation(tmp_path, OTHER, messages=messages[1:2])
    assert verified(here, 0) == snapshot("""\
  warn  20260131-1769817600000: message 1 is an answer without a question
  warn  20260131-1769817600000: message 3 is another question where an answer is due
  warn  20260131-1769817600000: message 4 is empty
  warn  20260131-1769817600000: 2 more like that
  warn  20260201-1769904000000: the last question has no answer; it is sent along with the next one
  ok    2 conversations in LOGS, all can be read
  ok    there is no index yet; the first search makes it
""")


@pytest.mark.parametrize(
    ("pending", "line"),
    [
        ({}, snapshot("  warn  20260131-1769817600000: a question was interrupted; ask again, or ask another")),
        (
            {"responseId": "resp_1"},
            snapshot(
                "  warn  20260131-1769817600000: an answer may wait at fake; get it with conversation-mcp resume 20260131-1769817600000"
            ),
        ),
        (
            {"status": "failed"},
            snapshot("  ok    20260131-1769817600000: the last question failed; ask again, or ask another"),
        ),
    ],
)
def test_what_has_no_answer_is_named(here: Here, tmp_path: Path, pending: dict[str, Any], line: str) -> None:
    left_behind(tmp_path, **pending)
    assert verified(here, 0).splitlines()[0] == line


def test_a_question_that_is_being_answered_is_in_order(here: Here, tmp_path: Path) -> None:
    left_behind(tmp_path)
    lock = LockFolder(logs(tmp_path) / ".locks").try_lock(f"{ID}.lock", lambda: None)
    assert lock
    assert verified(here, 0).splitlines()[0] == snapshot("  ok    20260131-1769817600000: a question is being answered")
    lock.release()


def test_what_lies_beside_the_conversations_is_named(here: Here, tmp_path: Path) -> None:
    path = put_conversation(tmp_path, ID)
    (path.parent / "conversation (1).json").write_text("{}", encoding="utf-8")
    (path.parent / ".conversation.0123456789abcdef.tmp").write_text("{", encoding="utf-8")
    (logs(tmp_path) / OTHER).mkdir()
    (logs(tmp_path) / "notes.txt").write_text("mine", encoding="utf-8")
    (path.parent / "export.md").write_text("# mine", encoding="utf-8")
    (logs(tmp_path) / ".deleted").write_text("0" * 32 + "\n", encoding="utf-8")
    (logs(tmp_path) / ".trash" / f"{TRASHED}.1770000000000").mkdir(parents=True)
    for folder, name in (
        (".locks", f"{TRASHED}.write.lock"),
        (".locks", "import.lock"),
        (".locks", f"{ID}.lock"),
        (".locks", f"{GONE}.write.lock"),
        (".calls", "old"),
        (".calls", "new"),
    ):
        (logs(tmp_path) / folder).mkdir(exist_ok=True)
        (logs(tmp_path) / folder / name).write_text("", encoding="utf-8")
    os.utime(logs(tmp_path) / ".calls" / "old", (LONG_AGO, LONG_AGO))
    assert verified(here, 0) == snapshot("""\
  ok    1 conversation in LOGS, all can be read
  warn  20260131-1769817600000/conversation (1).json is not a conversation and is ignored; remove it if you do not need it
  warn  20260201-1769904000000 (no conversation.json) is not a conversation and is ignored; remove it if you do not need it
  warn  notes.txt is not a conversation and is ignored; remove it if you do not need it
  warn  drafts of running or interrupted writes (1): 20260131-1769817600000/.conversation.0123456789abcdef.tmp
  warn  lock files of conversations that are gone (1): 20260202-1769990400000.write.lock
  warn  expired calls, which the next question removes (1): old
  ok    there is no index yet; the first search makes it
""")


def test_what_changed_since_the_index_was_compared_is_counted(here: Here, tmp_path: Path) -> None:
    for name in (ID, OTHER, GONE):
        put_conversation(tmp_path, name)
    here("index", "--rebuild")
    assert verified(here, 0).splitlines()[-1] == snapshot("  ok    the index agrees with the files of 3 conversations")
    (logs(tmp_path) / GONE / "conversation.json").unlink()
    put_conversation(tmp_path, OTHER, title="edited")
    assert verified(here, 0).splitlines()[-1] == snapshot(
        "  ok    the index agrees with the files of 3 conversations; 2 changed since, the next search reads them"
    )


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE conversations SET facts = replace(facts, 'apples', 'pears')",
        "UPDATE conversations SET archived = 1",
        "DELETE FROM facets",
        "DELETE FROM messages",
        "UPDATE messages SET text = 'pears'",
    ],
)
def test_an_index_that_says_something_else_than_the_files_fails(tmp_path: Path, damage: str) -> None:
    shelf = Shelf(tmp_path)
    shelf.put(1, "apples?", tags=["fruit"])
    shelf.put(2, "more apples?", tags=["fruit"]).write_text("{", encoding="utf-8")
    shelf.index.rebuild(Headway())
    assert last_of(shelf) == snapshot("  ok    the index agrees with the files of 2 conversations")
    with closing(sqlite3.connect(shelf.database)) as index:
        index.execute(damage)
        index.commit()
    before = everything(tmp_path)
    assert last_of(shelf) == snapshot(
        "  fail  the index is wrong about 1 conversation: 20260131-1769817600001; try conversation-mcp index --rebuild"
    )
    assert everything(tmp_path) == before


def test_a_torn_index_fails(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    Corpus().write(shelf.root, 50)
    shelf.index.rebuild(Headway())
    os.truncate(shelf.database, shelf.database.stat().st_size // 2)
    assert last_of(shelf).startswith("  fail  the index cannot be used: ")


@pytest.mark.parametrize("damage", [b"", b"no index at all" * 999])
def test_an_index_that_is_none_fails_and_is_left_for_the_next_search(here: Here, tmp_path: Path, damage: bytes) -> None:
    put_conversation(tmp_path, ID)
    here("index", "--rebuild")
    database().write_bytes(damage)
    last = verified(here, 1).splitlines()[-1]
    assert last.startswith("  fail  the index cannot be used: CACHE")
    assert last.endswith("try conversation-mcp index --rebuild")
    assert here("search", "tree").code == 0
    assert here("verify").code == 0


def test_a_folder_that_is_none_fails(here: Here, tmp_path: Path) -> None:
    logs(tmp_path).write_text("a file", encoding="utf-8")
    ended = here("verify")
    assert (ended.code, ended.err) == (1, "")
    assert ended.out.startswith("  fail  ")


def test_json_is_one_document(here: Here, tmp_path: Path) -> None:
    put_conversation(tmp_path, ID).write_text("{", encoding="utf-8")
    ended = here("verify", "--json")
    assert ended.code == 1
    assert [finding["state"] for finding in json.loads(ended.out)["findings"]] == ["fail", "fail", "ok"]


def test_the_index_is_shown_without_being_made(here: Here, tmp_path: Path) -> None:
    put_conversation(tmp_path, ID)
    shown = here("index").out.replace(os.environ["XDG_CACHE_HOME"], "CACHE")
    assert shown.splitlines()[1] == "holds     nothing yet; the first search makes it"
    assert "conversationCount" not in json.loads(here("index", "--json").out)
    assert not list(Path(os.environ["XDG_CACHE_HOME"]).rglob("*"))
    here("search", "tree")
    facts = json.loads(here("index", "--json").out)
    assert (facts["conversationCount"], Path(facts["location"])) == (1, database().parent)
    assert "compared  just now" in here("index").out
