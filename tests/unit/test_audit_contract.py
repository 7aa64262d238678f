"""What the audit trail of every store promises: lines that are chained, whoever adds them."""

import json
from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest
from tests.fixtures.stores import Clock, NewStore, started

from conversation_mcp.owners import LOCAL
from conversation_mcp.records.audit import FIRST, AuditEvent, checked
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.stores.audit import AuditTrail
from conversation_mcp.stores.catalog import open_audit, open_store, owners_in

ID = "20260131-1769817600000"


def event(number: int = 0, *targets: str) -> AuditEvent:
    return AuditEvent("me", "command line", "alice", f"show {number}", targets)


def broken(trail: AuditTrail) -> list[int]:
    return [line.number for line in checked(trail.lines()) if line.problem]


@pytest.fixture
def trail(store_url: str) -> AuditTrail:
    return open_audit(store_url, Clock())


def test_each_line_names_the_hash_of_the_one_before_it(store_url: str, trail: AuditTrail) -> None:
    assert [*trail.lines()] == []
    for number in range(3):
        open_audit(store_url, Clock()).add(event(number, ID))
    lines = [*trail.lines()]
    assert [json.loads(line)["previous"] for line in lines] == [FIRST, hash_of(lines[0]), hash_of(lines[1])]
    assert json.loads(lines[0]) == {
        "time": "2026-01-31T00:00:00.000Z",
        "actor": "me",
        "via": "command line",
        "owner": "alice",
        "action": "show 0",
        "targets": [ID],
        "previous": FIRST,
    }
    assert broken(trail) == []


def test_lines_of_many_writers_are_one_chain(store_url: str, trail: AuditTrail) -> None:
    trails = [open_audit(store_url, Clock()) for _ in range(8)]

    def write(each: AuditTrail) -> None:
        for number in range(25):
            each.add(event(number), is_durable=False)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, trails))
    assert len([*trail.lines()]) == 200
    assert broken(trail) == []


def test_lines_of_any_length_and_with_any_name_are_kept_as_they_are(trail: AuditTrail) -> None:
    trail.add(event(0, *[ID] * 20_000))
    trail.add(AuditEvent("Zoë \ud800", "http", "名前\0", "show"))
    trail.add(event(2))
    assert [len(json.loads(line)["targets"]) for line in trail.lines()] == [20_000, 0, 0]
    assert [json.loads(line)["owner"] for line in trail.lines()][1] == "名前\0"
    assert broken(trail) == []


def test_a_trail_of_thousands_of_lines_is_read_to_its_end(trail: AuditTrail) -> None:
    for number in range(2_001):
        trail.add(event(number), is_durable=False)
    assert [json.loads(line)["action"] for line in trail.lines()] == [f"show {number}" for number in range(2_001)]


def test_the_trail_is_of_no_owner_and_stays_when_all_of_them_are_gone(
    store_url: str, trail: AuditTrail, new_store: NewStore
) -> None:
    trail.add(event())
    assert {*owners_in(store_url)} <= {LOCAL}
    stores = [new_store(), open_store(store_url, Clock(), "alice", is_durable=False)]
    for store in stores:
        anyio.run(started, store)
        anyio.run(store.remove_all)
        assert anyio.run(store.traces) == []
    assert len([*trail.lines()]) == 1
