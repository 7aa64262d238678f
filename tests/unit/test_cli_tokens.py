"""The command `token`: a token is shown once, listed without what would open anything, and revoked."""

import json
from pathlib import Path

import pytest
from tests.fixtures.cli import Here

from conversation_mcp.access.tokens import is_token


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    monkeypatch.setenv("CONVERSATION_MCP_TOKENS_FILE", str(tmp_path / "tokens.json"))
    return Here(capsys, monkeypatch, tmp_path)


def test_a_new_token_is_alone_on_the_last_line_and_kept_nowhere(here: Here, tmp_path: Path) -> None:
    added = here("token", "add", "alice", "--expires", "90d", "--may-act-for", "user-*")
    assert added.code == 0, added.err
    assert is_token(added.out.rstrip("\n"))
    assert "first token" in added.err
    assert added.out.strip() not in (tmp_path / "tokens.json").read_text(encoding="utf-8")
    assert "first token" not in here("token", "add", "bob").err


def test_the_list_tells_everything_but_the_token(here: Here) -> None:
    made = here("token", "add", "alice", "--expires", "90d", "--may-act-for", "user-*").out.strip()
    here("token", "add", "bob")
    listed = here("token", "list", "--json")
    alice, bob = json.loads(listed.out)["tokens"]
    assert (alice["owner"], alice["mayActFor"], alice["isValid"]) == ("alice", ["user-*"], True)
    assert alice["expiresAt"] > alice["createdAt"]
    assert "expiresAt" not in bob
    for told in (listed.out, here("token", "list").out, here("token").out):
        assert made not in told
        assert "hash" not in told
    assert here("token", "list").out.splitlines()[1].split("\t")[1] == "bob"


def test_tokens_are_revoked_by_id_or_owner_and_the_last_one_is_named(here: Here) -> None:
    for owner in ("alice", "alice", "bob"):
        here("token", "add", owner)
    first = json.loads(here("token", "list", "--json").out)["tokens"][0]["tokenId"]
    assert here("token", "revoke", first).err == f"Revoked 1 token: {first}.\n"
    assert "None is left" not in here("token", "revoke", "alice").err
    assert "lets nobody in" in here("token", "revoke", "bob").err
    assert here("token", "revoke", "bob").code == 1
    assert json.loads(here("token", "list", "--json").out) == {"tokens": []}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("add", "alice", "--expires", "soon"), "--expires must be an age"),
        (("add", "alice", "--expires", "99999999y"), "--expires must be an age"),
        (("add", "a\nb"), "NAME"),
        (("add", "bot", "--may-act-for", ""), "--may-act-for"),
    ],
)
def test_what_is_no_name_and_no_age_is_refused_and_makes_no_file(
    here: Here, tmp_path: Path, arguments: tuple[str, ...], problem: str
) -> None:
    refused = here("token", *arguments)
    assert refused.code == 2
    assert problem in refused.err
    assert not (tmp_path / "tokens.json").exists()
