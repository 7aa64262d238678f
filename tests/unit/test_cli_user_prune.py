"""The command `user prune`, on every store: what is older than it is kept goes for good, and nothing else."""

import json

import pytest
from tests.fixtures.cli import Here, answered
from tests.fixtures.folders import ID
from tests.fixtures.homes import Home

OTHER, THIRD, FOURTH = "20260131-1769817600001", "20260131-1769817600002", "20260131-1769817600003"
NOW = "2999-01-01T00:00:00.000Z"


def test_old_conversations_go_for_good_and_young_or_tagged_ones_stay(here: Here, home: Home) -> None:
    home.put(answered(ID))
    home.put(answered(OTHER, updatedAt=NOW))
    home.put(answered(THIRD, tags=["keep"]))
    shown = here("user", "prune", "local", "--keep", "1d")
    assert (shown.code, shown.out) == (0, f"{ID}  would be deleted\n")
    assert "1 would be deleted for good with --apply; 1 with tags" in shown.err
    assert home.ids() == [ID, OTHER, THIRD]
    ended = here("user", "prune", "local", "--keep", "1d", "--apply", "--json")
    data = json.loads(ended.out)
    assert data == {"user": "local", "isApplied": True, "old": [ID], "deleted": [ID], "problems": []}
    assert home.ids() == [OTHER, THIRD]
    assert here("trash").out == ""


def test_what_was_deleted_lately_stays_in_the_trash(here: Here, home: Home) -> None:
    home.put(answered(ID, updatedAt=NOW))
    assert here("delete", ID).code == 0
    assert here("user", "prune", "local", "--keep", "1d", "--apply").out == ""
    assert here("trash").out.startswith(ID)
    assert here("user", "prune", "local", "--keep", "0d", "--apply").out in ("", f"{ID}  deleted for good\n")


@pytest.mark.slow
def test_only_the_user_who_is_named_loses_anything(here: Here, home: Home) -> None:
    home.put(answered(ID))
    assert here("remember", "--owner", "alice", "the quagga").code == 0
    assert here("user", "prune", "alice", "--keep", "1d", "--apply").out == ""
    assert home.ids() == [ID]
    assert here("user", "prune", "carol", "--keep", "1d").code == 1
    assert here("user", "prune", "local", "--keep", "soon").code == 2
    assert here("user", "prune", "local").code == 2
