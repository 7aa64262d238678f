"""Owners on the command line: the option, the setting, and the list of them."""

import json
from pathlib import Path

import pytest
from tests.fixtures.cli import Here


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    return Here(capsys, monkeypatch, tmp_path)


def test_what_is_asked_for_an_owner_is_found_under_that_owner_alone(here: Here, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "kettle.md").write_text("A kettle boils water.")
    for owner in ("local", "alice", "alice/.."):
        asked = here("ask", "--owner", owner, "--documents", str(notes), f"kettle of {owner}?", "--json")
        assert asked.code == 0, asked.err
    assert "kettle of local?" in here("list").out
    assert "alice" not in here("list").out
    assert "kettle of alice?" in here("list", "--owner", "alice").out
    assert here("list", "--owner", "alice").out.count("\n") == 1
    assert here("owners").out == "local\t1\t1\t$0.00\t\nalice\t1\t1\t$0.00\t\nalice/..\t1\t1\t$0.00\t\n"
    rows = json.loads(here("owners", "--json").out)["owners"]
    assert rows[1] == {"owner": "alice", "conversationCount": 1, "turns": 1, "costUsd": 0.0}


def test_a_setting_names_the_owner_of_all_commands(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVERSATION_MCP_OWNER", "alice")
    assert json.loads(here("config", "--json").out)["owner"] == {
        "value": "alice",
        "origin": "CONVERSATION_MCP_OWNER",
    }
    assert here("list").code == 0
    monkeypatch.setenv("CONVERSATION_MCP_OWNER", "ali\nce")
    assert here("list").code == 2
    assert here("stats").code == 2


def test_a_server_over_http_takes_no_owner_and_options_of_http_need_it(here: Here) -> None:
    refused = here("serve", "--http", "--owner", "alice")
    assert refused.code == 2
    assert "token" in refused.err
    refused = here("serve", "--allowed-host", "x")
    assert refused.code == 2
    assert refused.err == "VALIDATION_ERROR: --allowed-host needs --http.\n"


def test_a_server_that_others_could_reach_is_refused_without_tokens(here: Here) -> None:
    for option, name in (("--host", "192.0.2.1"), ("--allowed-host", "mcp.example.com")):
        refused = here("serve", "--http", option, name)
        assert refused.code == 2
        assert f"{option} {name}" in refused.err
        assert "token add" in refused.err
