"""The command `user keep`, and what shows what it has set."""

import json

import pytest
from tests.fixtures.cli import Here


@pytest.mark.slow
def test_an_age_is_set_shown_listed_noted_and_taken_back(here: Here) -> None:
    assert here("remember", "--owner", "alice", "the quagga").code == 0
    assert here("user", "keep", "alice").out == "alice  forever\n"
    ended = here("user", "keep", "alice", "90d")
    assert (ended.code, ended.out) == (0, "alice  90d\n")
    assert "within an hour" in ended.err
    assert here("user", "keep", "alice").out == "alice  90d\n"
    assert here("remember", "--owner", "alice", "the okapi").code == 0
    (line,) = [line for line in here("owners").out.splitlines() if line.startswith("alice")]
    assert line.split("\t")[-1] == "90d"
    assert {each["owner"]: each.get("keep") for each in json.loads(here("owners", "--json").out)["owners"]}[
        "alice"
    ] == "90d"
    assert here("user", "keep", "alice", "forever").out == "alice  forever\n"
    assert here("user", "keep", "alice").out == "alice  forever\n"
    assert [line.split("\t")[4] for line in here("user", "audit", "alice").out.splitlines()][1::2] == [
        "user keep 90d",
        "user keep forever",
    ]


def test_what_is_no_age_or_no_user_changes_nothing(here: Here) -> None:
    assert here("remember", "--owner", "alice", "the quagga").code == 0
    refused = here("user", "keep", "alice", "0d")
    assert refused.code == 2
    assert "AGE must be one such as 36h, 90d, 12w or 2y, or forever; got '0d'." in refused.err
    assert here("user", "keep", "carol", "90d").code == 1
    assert here("user", "keep", "alice").out == "alice  forever\n"
