"""The audit trail on a Redis server: lines older than their age are cut, and the rest is still one chain that can be checked."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.fixtures.stores import Clock
from tests.fixtures.valkey import Valkey

from conversation_mcp.records.audit import AuditEvent, checked
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.stores.audit import AuditTrail
from conversation_mcp.stores.catalog import open_audit
from conversation_mcp.stores.redis.audit import KEPT, KEY

DAY = 24 * 3600.0
EVENT = AuditEvent("me", "http", "alice", "show")


@pytest.fixture
def trail(redis_url: str, clock: Clock) -> AuditTrail:
    return open_audit(redis_url, clock)


def actions(trail: AuditTrail) -> list[str]:
    return [json.loads(line)["action"] for line in trail.lines()]


def broken(trail: AuditTrail) -> list[int]:
    return [line.number for line in checked(trail.lines()) if line.problem]


def aged(trail: AuditTrail, clock: Clock, count: int = 3) -> list[bytes]:
    """Add lines, let them become too old, add one more, and return those that were there before that."""
    for _ in range(count):
        trail.add(EVENT)
    before = [*trail.lines()]
    clock.move(KEPT.total_seconds() + 1)
    trail.add(EVENT)
    return before


def test_old_lines_are_cut_and_a_line_says_which_was_the_last(trail: AuditTrail, clock: Clock) -> None:
    before = aged(trail, clock)
    assert actions(trail) == ["cut 3 lines", "show"]
    first = json.loads(next(trail.lines()))
    assert (first["via"], first["upTo"], first["previous"]) == ("server", hash_of(before[-1]), hash_of(before[-1]))
    assert broken(trail) == []


def test_lines_that_are_not_old_stay_where_others_are_cut(trail: AuditTrail, clock: Clock) -> None:
    trail.add(EVENT)
    clock.move(DAY)
    trail.add(EVENT._replace(action="show later"))
    clock.move(KEPT.total_seconds() - DAY + 1)
    trail.add(EVENT)
    assert actions(trail) == ["show later", "cut 1 line", "show"]
    clock.move(DAY)
    trail.add(EVENT)
    assert actions(trail) == ["cut 1 line", "show", "cut 1 line", "show"]
    assert broken(trail) == []


def test_what_somebody_else_removes_or_changes_is_still_found(
    trail: AuditTrail, clock: Clock, valkey_server: Valkey, redis_url: str
) -> None:
    aged(trail, clock)
    for _ in range(3):
        trail.add(EVENT)
    valkey_server.command(redis_url, "LPOP", KEY)
    assert broken(trail) == [1]
    valkey_server.command(redis_url, "LPOP", KEY)
    assert broken(trail) == [1]
    valkey_server.command(redis_url, "LSET", KEY, 1, b"{}")
    assert broken(trail) == [1, 2, 3]


def test_writers_that_cut_at_once_leave_one_chain(redis_url: str, clock: Clock) -> None:
    aged_trail = open_audit(redis_url, clock)
    for number in range(20):
        aged_trail.add(EVENT._replace(action=f"show {number}"))
    clock.move(KEPT.total_seconds() + 1)
    trails = [open_audit(redis_url, clock) for _ in range(8)]

    def write(trail: AuditTrail) -> None:
        trail.add(EVENT)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, trails))
    assert sorted(actions(aged_trail)) == ["cut 20 lines", *["show"] * 8]
    assert broken(aged_trail) == []
