"""Moments as people type them."""

import json
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.fixtures.cli import Here, put_conversation
from tests.fixtures.folders import ID

from conversation_mcp.cli.selection.moments import milliseconds_at
from conversation_mcp.clock import utc_now
from conversation_mcp.records.models import iso

OTHER = "20260131-1769817600001"


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    return Here(capsys, monkeypatch, tmp_path)


@pytest.mark.parametrize(
    ("text", "seconds"), [("36h", 36 * 3600), ("2d", 2 * 86400), ("3w", 21 * 86400), ("1y", 365 * 86400)]
)
def test_an_age_is_so_long_before_now(text: str, seconds: int) -> None:
    before = time.time_ns() // 1_000_000
    found = milliseconds_at("--after", text) + seconds * 1000
    assert before - 1 <= found <= time.time_ns() // 1_000_000


def test_a_word_for_a_day_is_where_that_day_begins_here() -> None:
    found = [datetime.fromtimestamp(milliseconds_at("--after", text) / 1000) for text in ("yesterday", "today")]  # noqa: DTZ006 -- the zone of this machine is what counts
    assert [(each.hour, each.minute, each.second) for each in found] == [(0, 0, 0)] * 2
    assert found[1].date() - found[0].date() == timedelta(days=1)
    assert milliseconds_at("--after", "2026-01-31") == 1769817600000


def test_lists_searches_and_sums_take_them_by_either_name(here: Here, tmp_path: Path) -> None:
    now = iso(utc_now())
    put_conversation(tmp_path, ID)
    put_conversation(tmp_path, OTHER, updatedAt=now)
    for option in ("--after", "--since"):
        for command in (["list"], ["search", "tree"]):
            for moment in ("2d", "yesterday"):
                rows = json.loads(here(*command, option, moment, "--json").out)["conversations"]
                assert [row["conversationId"] for row in rows] == [OTHER]
        assert here("stats", option, "2d").code == 0
    for option in ("--before", "--until"):
        rows = json.loads(here("list", option, "2d", "--json").out)["conversations"]
        assert [row["conversationId"] for row in rows] == [ID]
