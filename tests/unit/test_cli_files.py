"""The command `files`, and what `verify` tells of files, on every store."""

import json
from pathlib import Path

import anyio
import pytest
from inline_snapshot import snapshot
from tests.fixtures.attached import CONTENTS, NEW, OLD, PATH, PICTURE, WORD, stored_with_files
from tests.fixtures.cli import Here, answered
from tests.fixtures.folders import ID
from tests.fixtures.homes import Home
from tests.fixtures.stores import tree

from conversation_mcp.clock import utc_now
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.catalog import open_store

on_files = pytest.mark.parametrize("store_url", ["file"], indirect=True)


@pytest.fixture
def named_in(home: Home) -> ConversationId:
    """Return the id of a conversation whose questions name files."""
    return anyio.run(stored_with_files, open_store(home.store_url, utc_now, is_durable=False))


def on_disk(home: Home, conversation_id: str, data: bytes) -> Path:
    """Return where a content is, in the store of files."""
    return home.folder / "conversation-logs" / conversation_id / "files" / hash_of(data)


def test_files_are_listed_by_message_for_programs(here: Here, named_in: ConversationId) -> None:
    ended = here("files", named_in)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.replace("\t", " | ") == snapshot("""\
1 | /home/me/src/add.py |  | 34 | 828092436119 | whole | \n\
1 | /home/me/letter.docx |  | 10 | ee9ed03e43ff | whole | \n\
3 | /home/me/src/add.py |  | 44 | a8eaa3b99db6 | diff | \n\
3 | /home/me/.env |  |  |  | skipped | may hold secrets
3 | /home/me/shot.png |  | 12 | b5b748927edf | whole | \n\
""")


def test_files_are_listed_as_json(here: Here, named_in: ConversationId) -> None:
    data = json.loads(here("files", "last", "--json").out)
    assert data["conversationId"] == named_in
    assert [(each["messageNumber"], each["kind"], each["isKept"]) for each in data["files"]] == [
        (1, "file", True),
        (1, "file", True),
        (3, "file", True),
        (3, "file", False),
        (3, "image", True),
    ]
    assert data["files"][0]["sha256"] == hash_of(OLD)
    assert data["problems"] == []


def test_a_conversation_without_files_says_so(here: Here, home: Home) -> None:
    home.put(answered(ID))
    ended = here("files", ID)
    assert (ended.code, ended.out, ended.err) == (0, "", "No question of this conversation names a file.\n")


def test_files_are_restored_as_they_were_sent(here: Here, home: Home, named_in: ConversationId) -> None:
    out = home.folder / "out"
    ended = here("files", named_in, "--restore", str(out))
    assert (ended.code, ended.err) == (0, f"Restored 4 files to {out}.\n")
    assert ended.out.splitlines() == [
        str(out / "home/me" / name)
        for name in ("src/add.message-1.py", "letter.docx", "src/add.message-3.py", "shot.png")
    ]
    assert {path.read_bytes() for path in out.rglob("*") if path.is_file()} == {OLD, NEW, PICTURE, WORD}


def test_nothing_is_replaced_without_force(here: Here, home: Home, named_in: ConversationId) -> None:
    taken = home.folder / "out" / "home" / "me" / "letter.docx"
    taken.parent.mkdir(parents=True)
    taken.write_text("mine")
    ended = here("files", named_in, "--restore", str(home.folder / "out"), "--json")
    data = json.loads(ended.out)
    assert ended.code == 1
    assert data["problems"] == [f"{taken} is there already; --force replaces it"]
    assert ["restoredTo" in each for each in data["files"]] == [True, False, True, False, True]
    assert taken.read_text() == "mine"
    assert here("files", named_in, "--restore", str(home.folder / "out"), "--force").code == 0
    assert taken.read_bytes() == WORD


def test_wrong_usage_is_told(here: Here, home: Home, named_in: ConversationId) -> None:
    assert "--force goes with --restore." in here("files", named_in, "--force").err
    if home.store_url.startswith("file:"):
        logs = home.folder / "conversation-logs"
        before = tree(logs)
        ended = here("files", named_in, "--restore", str(logs / "out"))
        assert (ended.code, tree(logs)) == (2, before)
        assert "--restore must lie outside of the folder of the conversations" in ended.err


@on_files
def test_a_damaged_content_is_not_restored_and_the_others_are(here: Here, home: Home, named_in: ConversationId) -> None:
    on_disk(home, named_in, OLD).write_bytes(b"changed")
    ended = here("files", named_in, "--restore", str(home.folder / "out"))
    assert ended.code == 1
    assert f"{PATH}: its content is missing or damaged\n" in ended.err
    assert len(ended.out.splitlines()) == 3


@on_files
def test_a_missing_content_is_told_in_the_list(here: Here, home: Home, named_in: ConversationId) -> None:
    on_disk(home, named_in, OLD).unlink()
    assert here("files", named_in).out.splitlines()[0].endswith("\twhole\tits content is missing or damaged")


def test_a_check_finds_all_in_order(here: Here, named_in: ConversationId) -> None:
    del named_in
    ended = here("verify")
    assert ended.code == 0
    assert "content" not in ended.out


@on_files
def test_a_check_finds_what_is_missing_damaged_and_unnamed(here: Here, home: Home, named_in: ConversationId) -> None:
    on_disk(home, named_in, OLD).write_bytes(b"changed")
    on_disk(home, named_in, WORD).unlink()
    on_disk(home, named_in, b"more").write_bytes(b"more")
    (on_disk(home, named_in, OLD).with_name("notes")).write_text("x")
    ended = here("verify")
    assert ended.code == 1
    place = str(home.folder / "conversation-logs")
    told = ended.out.replace(named_in, "ID").replace(place, "LOGS")
    assert told.partition("  ok    there is no index")[0] == snapshot("""\
  fail  ID: the contents of 1 file are missing: /home/me/letter.docx
  fail  ID: 1 content of its files changed on disk: /home/me/src/add.py
  warn  ID: 1 content kept that no question names: 187897ce0afc
  ok    1 conversation in LOGS, all can be read
  warn  ID/files/notes is not a conversation and is ignored; remove it if you do not need it
""")


@on_files
def test_a_check_of_a_folder_that_is_a_link_is_told(here: Here, home: Home, named_in: ConversationId) -> None:
    folder = on_disk(home, named_in, OLD).parent
    folder.rename(home.folder / "elsewhere")
    folder.symlink_to(home.folder / "elsewhere")
    ended = here("verify")
    assert ended.code == 1
    assert f"{folder}: is a symbolic link, which is not followed" in ended.out


def test_show_names_the_files(here: Here, named_in: ConversationId) -> None:
    shown = here("show", named_in).out
    assert "- /home/me/src/add.py · 44 bytes · changes sent · changed since message 1\n" in shown


def test_an_export_of_a_command_has_the_files_and_an_import_brings_them_back(
    here: Here, home: Home, named_in: ConversationId
) -> None:
    path = home.folder / "all.json"
    assert here("export", "--all", "--format", "json", "--output", str(path)).code == 0
    assert here("delete", named_in, "--for-good", "--yes").code == 0
    assert here("import", str(path), "--deleted").code == 0
    store = open_store(home.store_url, utc_now, is_durable=False)
    assert anyio.run(store.attachments.get, named_in, [*CONTENTS]) == CONTENTS
    redacted = here("export", named_in, "--redact").out
    assert "return a + b" in redacted
    assert "/home/me" not in redacted
