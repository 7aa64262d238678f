"""The command `user export`, on every store: one archive with everything, that says what is in it."""

import json
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from shutil import which

import anyio
import pytest
from dirty_equals import IsPartialDict
from tests.fixtures.attached import CONTENTS, stored_with_files
from tests.fixtures.cli import Here, answered
from tests.fixtures.folders import ID
from tests.fixtures.homes import Home

from conversation_mcp.clock import utc_now
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.catalog import open_store

OTHER = "20260131-1769817600001"
MEMORY = {"memoryId": "mem-1", "content": "Alice prefers tea.", "createdAt": "2026-01-31T00:00:00.000Z"}
on_files = pytest.mark.parametrize("store_url", ["file"], indirect=True)


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Home) -> Here:
    monkeypatch.chdir(home.folder)
    return Here(capsys, monkeypatch, home)


def store_of(home: Home) -> Store:
    return open_store(home.store_url, utc_now, is_durable=False)


def unpacked(path: Path) -> Mapping[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_everything_is_in_one_archive_with_checksums_of_all(here: Here, home: Home) -> None:
    home.put(answered(ID, memories=[MEMORY], tags=["trees"]))
    with_files = anyio.run(stored_with_files, store_of(home))
    ended = here("user", "export", "local", "--output", "all.zip", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out) == IsPartialDict(
        user="local", archive="all.zip", conversationCount=2, fileCount=len(CONTENTS), memoryCount=1, problems=[]
    )
    files = unpacked(home.folder / "all.zip")
    for conversation_id in (ID, with_files):
        assert files[f"conversations/{conversation_id}/conversation.json"] == home.body(conversation_id)
    for data in CONTENTS.values():
        assert files[f"conversations/{with_files}/files/{hash_of(data)}"] == data
    assert "A balanced tree" in files[f"conversations/{ID}/conversation.md"].decode()
    assert [each["content"] for each in json.loads(files["memories.json"])] == ["Alice prefers tea."]
    assert {each["conversationId"] for each in json.loads(files["facts.json"])} == {ID, with_files}
    assert json.loads(files["costs.json"])["total"]["costUsd"] == 0.0031
    assert "2 conversations" in files["README.md"].decode()
    sums = dict(line.split("  ")[::-1] for line in files["SHA256SUMS"].decode().splitlines())
    assert sums == {name: hash_of(data) for name, data in files.items() if name != "SHA256SUMS"}


def test_what_is_in_the_trash_is_there_with_its_files_and_apart(here: Here, home: Home) -> None:
    deleted = anyio.run(stored_with_files, store_of(home))
    body = home.body(deleted)
    assert here("delete", deleted).code == 0
    assert here("user", "export", "local", "--output", "all.zip").code == 0
    files = unpacked(home.folder / "all.zip")
    folder = f"trash/{deleted}.1"
    assert json.loads(files[f"{folder}/conversation.json"]) == json.loads(body)
    assert {name for name in files if name.startswith(f"{folder}/files/")} == {
        f"{folder}/files/{hash_of(data)}" for data in CONTENTS.values()
    }
    assert "deletedAt" in json.loads(files["facts.json"])[0]


def test_an_archive_brings_the_conversations_in_again_and_nothing_of_the_trash(here: Here, home: Home) -> None:
    home.put(answered(OTHER))
    kept = anyio.run(stored_with_files, store_of(home))
    assert here("delete", OTHER).code == 0
    assert here("user", "export", "local", "--output", "all.zip").code == 0
    imported = here("import", "all.zip", "--owner", "bob")
    assert imported.code == 0, imported.err
    assert here("list", "--owner", "bob").out.startswith(kept)
    assert here("list", "--owner", "bob").out.count("\n") == 1
    kept_contents = open_store(home.store_url, utc_now, "bob").finder.attachments.sizes(kept)
    assert kept_contents.keys() == {hash_of(data) for data in CONTENTS.values()}


def test_nobody_else_is_in_the_archive_of_a_user(here: Here, home: Home) -> None:
    home.put(answered(ID, title="of local"))
    assert here("remember", "--owner", "alice", "the quagga").code == 0
    assert here("user", "export", "alice", "--output", "alice.zip").code == 0
    everything = b"".join(unpacked(home.folder / "alice.zip").values())
    assert b"the quagga" in everything
    assert b"of local" not in everything
    assert b"B-tree" not in everything


def test_a_user_who_has_nothing_is_named_and_a_wrong_name_is_refused(here: Here, home: Home) -> None:
    home.put(answered(ID))
    unknown = here("user", "export", "carol")
    assert (unknown.code, unknown.out) == (1, "")
    assert unknown.err.startswith("Nothing is kept of carol.")
    assert here("user", "export", "ca\nrol").code == 2
    assert here("user").code == 2
    assert not [*home.folder.glob("*.zip")]


def test_nothing_is_replaced_by_an_archive_and_none_goes_among_the_conversations(here: Here, home: Home) -> None:
    home.put(answered(ID))
    there = home.folder / "mine.zip"
    there.write_bytes(b"mine")
    (home.folder / "link.zip").symlink_to(home.folder / "nowhere")
    for name in ("mine.zip", "link.zip"):
        refused = here("user", "export", "local", "--output", name)
        assert (refused.code, "exists already" in refused.err) == (2, True)
    assert there.read_bytes() == b"mine"
    first, second = here("user", "export", "local"), here("user", "export", "local", "--output", "new/folder/x.zip")
    assert first.code == second.code == 0
    assert (home.folder / first.out.strip()).stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in home.folder.iterdir() if path.name.startswith(".")) == []


@on_files
def test_an_archive_among_the_conversations_is_refused(here: Here, home: Home) -> None:
    home.put(answered(ID))
    assert here("user", "export", "local", "--output", "conversation-logs/x.zip").code == 2
    assert here("remember", "--owner", "alice", "the quagga").code == 0
    assert here("user", "export", "alice", "--output", "conversation-logs/x.zip").code == 2


@on_files
def test_what_cannot_be_read_is_said_and_is_in_the_archive_as_it_is(here: Here, home: Home) -> None:
    home.put(answered(OTHER))
    kept = anyio.run(stored_with_files, store_of(home))
    logs = home.folder / "conversation-logs"
    (logs / OTHER / "conversation.json").write_text("{")
    lost = next(iter(CONTENTS.values()))
    (logs / kept / "files" / hash_of(lost)).unlink()
    ended = here("user", "export", "local", "--output", "all.zip")
    assert ended.code == 1
    assert ended.err.count("Problem: ") == 2
    files = unpacked(home.folder / "all.zip")
    assert files[f"conversations/{OTHER}/conversation.json"] == b"{"
    problems = json.loads(files["user.json"])["problems"]
    assert "is not valid JSON" in problems[0]
    assert problems[1] == f"{kept}: the content {hash_of(lost)} is missing or damaged"


@pytest.mark.slow
@pytest.mark.skipif(which("sha256sum") is None, reason="there is no sha256sum here")
@on_files
def test_the_checksums_are_those_that_sha256sum_checks(here: Here, home: Home) -> None:
    home.put(answered(ID))
    assert here("user", "export", "local", "--output", "all.zip").code == 0
    with zipfile.ZipFile(home.folder / "all.zip") as archive:
        archive.extractall(home.folder / "out")
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=home.folder / "out", check=True)
