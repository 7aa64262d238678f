"""The command `user audit`, and what commands leave in the audit trail."""

import json
from pathlib import Path

import pytest
from tests.fixtures.cli import Ended, Here, answered
from tests.fixtures.folders import ID
from tests.fixtures.homes import Home

IN_FILES = pytest.mark.parametrize("store_url", ["file"], indirect=True)


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Home) -> Here:
    monkeypatch.chdir(home.folder)
    monkeypatch.setenv("LOGNAME", "me")
    return Here(capsys, monkeypatch, home)


def done_in(ended: Ended) -> list[tuple[str, str]]:
    """Return the owner and the action of each line."""
    return [(fields[3], fields[4]) for fields in (line.split("\t") for line in ended.out.splitlines())]


def file_of(home: Home) -> Path:
    return home.folder / "conversation-logs" / ".audit" / "audit.jsonl"


@pytest.mark.slow
def test_what_is_done_with_conversations_of_others_is_noted_with_ids_and_no_words(here: Here, home: Home) -> None:
    assert here("remember", "--owner", "alice", "the quagga is mine").code == 0
    alices = here("list", "--owner", "alice").out.split("\t")[0]
    for command in (("show", alices), ("memories", "quagga"), ("export", alices), ("trash",), ("trash", "empty")):
        assert here(*command, "--owner", "alice").code == 0, command
    home.put(answered(ID))
    assert here("show", ID).code == 0  # of one's own, which is nobody else's business
    ended = here("user", "audit")
    assert done_in(ended) == [
        ("alice", each) for each in ("remember", "list", "show", "memories", "export", "trash", "trash empty")
    ]
    assert ended.out.splitlines()[2].split("\t")[1:] == ["me", "command line", "alice", "show", alices]
    assert "quagga" not in ended.out
    assert here("user", "audit", "bob").out == ""
    assert here("user", "audit", "alice").out == ended.out


def test_exports_and_deletions_are_noted_and_stay_when_the_user_is_gone(here: Here, home: Home) -> None:
    assert here("remember", "--owner", "alice", "the quagga is mine").code == 0
    assert here("user", "export", "alice", "--output", "a.zip").code == 0
    home.put(answered(ID))
    assert here("user", "delete", "alice", "--yes").code == 0
    assert here("user", "delete", "local", "--yes").code == 0
    assert done_in(here("user", "audit"))[1:] == [
        ("alice", "user export"),
        ("alice", "user delete"),
        ("alice", "user delete, complete"),
        ("local", "user delete"),
        ("local", "user delete, complete"),
    ]
    lines = json.loads(here("user", "audit", "local", "--json").out)["lines"]
    assert [line["targets"] for line in lines] == [[ID], [ID]]


@IN_FILES
def test_a_broken_chain_is_named_and_a_sound_one_has_a_last_hash(here: Here, home: Home) -> None:
    for _ in range(3):
        here("list", "--owner", "alice")
    sound = here("user", "audit", "--verify")
    assert (sound.code, sound.out) == (0, "")
    assert "3 lines, none of them changed, none removed between them; the hash of the last one is " in sound.err
    file_of(home).write_bytes(file_of(home).read_bytes().replace(b"alice", b"bobby", 1))
    damaged = here("user", "audit", "--verify")
    assert damaged.code == 1
    assert damaged.err.startswith("Line 2 does not follow the line before it,")
    assert "broken at 1 line" in damaged.err
    assert here("user", "audit").code == 0
    assert "Notice: line 2" in here("user", "audit").err


@IN_FILES
def test_what_cannot_be_noted_is_not_done(here: Here, home: Home) -> None:
    home.put(answered(ID))
    file_of(home).mkdir(parents=True)
    assert here("list", "--owner", "alice").code == 1
    assert here("user", "export", "local", "--output", "a.zip").code == 1
    assert not (home.folder / "a.zip").exists()
    assert here("user", "delete", "local", "--yes").code == 1
    assert home.ids() == [ID]


@IN_FILES
def test_verify_and_doctor_know_the_trail(here: Here, home: Home) -> None:
    home.put(answered(ID))
    here("list", "--owner", "alice")
    assert here("verify").code == 0
    assert ".audit" not in here("verify").out + here("verify").err
