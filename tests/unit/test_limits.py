"""Limits of owners: what every store promises, and what a question that is over a limit gets."""

import json
import math
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import anyio
import pytest
from anyio import to_thread
from tests.fixtures.stores import SERVERS, Clock, NewStore, started
from tests.fixtures.valkey import Valkey

from conversation_mcp.errors import RateLimitedError, StorageLimitReachedError
from conversation_mcp.limits.base import Rate
from conversation_mcp.limits.bucket import Bucket, name_of, taken
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.files.limits import RECORD, LimitFiles
from conversation_mcp.turns.owner_limits import KNOWN_SECONDS, OwnerLimits, OwnerRates

THREE = Rate(3)
SLOW = Rate(3, 60 * 3600)
"""One in 20 hours: no test lasts long enough for that."""


@pytest.fixture
def pass_by(store_url: str, clock: Clock, request: pytest.FixtureRequest) -> Callable[[float], Awaitable[None]]:
    """Let so many seconds pass; a store of several machines counts them by the clock of its server."""

    def on_server(seconds: float) -> None:
        server = request.getfixturevalue(SERVERS[store_url.partition(":")[0]])
        if isinstance(server, Valkey):
            for key in server.command(store_url, "KEYS", "*:bucket:*"):
                tokens, at = json.loads(server.command(store_url, "GET", key))
                server.command(store_url, "SET", key, json.dumps([tokens, at - seconds]))
        else:
            server.change(store_url, f"UPDATE buckets SET at = at - {seconds}")

    async def pass_by(seconds: float) -> None:
        clock.move(seconds)
        if store_url.startswith(tuple(SERVERS)):
            await to_thread.run_sync(on_server, seconds)

    return pass_by


async def test_a_bucket_is_emptied_by_all_processes_together_and_filled_evenly(
    store: Store, new_store: NewStore, pass_by: Callable[[float], Awaitable[None]]
) -> None:
    for each in (store, new_store(), store):
        assert await each.limits.take("alice", "questions", SLOW) == 0
    assert await new_store().limits.take("alice", "questions", SLOW) == pytest.approx(20 * 3600, abs=600)
    await pass_by(15 * 3600)
    assert await store.limits.take("alice", "questions", SLOW) == pytest.approx(5 * 3600, abs=600)
    await pass_by(5 * 3600)
    assert await store.limits.take("alice", "questions", SLOW) == 0
    assert await store.limits.take("alice", "questions", SLOW) > 0
    await pass_by(10_000 * 3600)
    told = [await store.limits.take("alice", "questions", SLOW) for _ in range(4)]
    assert [not wait for wait in told] == [True, True, True, False]


async def test_owners_and_kinds_have_buckets_of_their_own(store: Store) -> None:
    once = Rate(1)
    for owner in ("alice", "Alice", "alice ", "../alice", "a" * 500, "älice"):
        for kind in ("questions", "conversations"):
            assert await store.limits.take(owner, kind, once) == 0
    assert await store.limits.take("alice", "questions", once) > 0


async def test_seats_are_shared_by_all_processes(store: Store, new_store: NewStore) -> None:
    first = await store.limits.sit("alice", "running", 2)
    second = await new_store().limits.sit("alice", "running", 2)
    assert first
    assert second
    assert await store.limits.sit("alice", "running", 2) is None
    assert await store.limits.sit("bob", "running", 2)
    await first.leave()
    await first.leave()
    assert await new_store().limits.sit("alice", "running", 2)
    assert await store.limits.sit("alice", "running", 2) is None


async def test_the_size_counts_what_is_stored_and_what_is_in_the_trash(store: Store) -> None:
    empty = await store.size_bytes()
    conversation_id = await started(store, "x" * 10_000, "y")
    assert await store.size_bytes() >= empty + 10_000
    await store.trash.put(conversation_id)
    assert await store.size_bytes() >= empty + 10_000


def test_a_clock_that_was_set_back_neither_fills_nor_locks_a_bucket() -> None:
    bucket, wait_seconds = taken(Bucket(1.0, 1_000.0), THREE, 10.0)
    assert (bucket, wait_seconds) == (Bucket(0.0, 10.0), 0)
    assert taken(bucket, THREE, 10.0)[1] == pytest.approx(20)


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 15, b"\xff" * 16, RECORD.pack(-1e300, 0), RECORD.pack(math.inf, 0), RECORD.pack(0, -math.inf)]
)
async def test_a_damaged_bucket_is_a_full_one(tmp_path: Path, data: bytes) -> None:
    limits = LimitFiles(tmp_path, lambda: datetime(2026, 1, 31, tzinfo=UTC))
    assert await limits.take("alice", "questions", Rate(1)) == 0
    bucket = tmp_path / ".limits" / f"{name_of('alice', 'questions')}.lock"
    await to_thread.run_sync(bucket.write_bytes, data)
    assert await limits.take("alice", "questions", Rate(1)) == 0
    assert await limits.take("alice", "questions", Rate(1)) > 0


async def test_an_empty_bucket_is_filled_again_although_the_clock_was_set_back(tmp_path: Path) -> None:
    seconds = [3_600.0]
    limits = LimitFiles(tmp_path, lambda: datetime.fromtimestamp(seconds[-1], UTC))
    assert await limits.take("alice", "questions", Rate(1)) == 0
    seconds.append(0.0)
    assert await limits.take("alice", "questions", Rate(1)) == 60
    seconds.append(60.0)
    assert await limits.take("alice", "questions", Rate(1)) == 0


COUNTER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
import anyio
from conversation_mcp.limits.base import Rate
from conversation_mcp.stores.files.limits import LimitFiles

async def main():
    limits = LimitFiles(Path(sys.argv[1]), lambda: datetime(2026, 1, 31, tzinfo=UTC))
    print(sum([not await limits.take("alice", "questions", Rate(100)) for _ in range(60)]))

anyio.run(main)
"""


@pytest.mark.slow
def test_four_processes_together_get_no_more_than_there_is(tmp_path: Path) -> None:
    children = [
        subprocess.Popen([sys.executable, "-c", COUNTER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    counts = [int(child.communicate()[0]) for child in children]
    assert sum(counts) == 100


def limited(store: Store, **changes: int) -> OwnerLimits:
    rates = OwnerRates(questions_per_minute=2, conversations_per_minute=1, running_turns=1, stored_bytes=10**9)
    return OwnerLimits("alice", store, rates._replace(**changes), lambda: 0.0)


async def test_the_question_over_a_limit_is_told_when_to_come_back(
    store: Store, pass_by: Callable[[float], Awaitable[None]]
) -> None:
    limits = limited(store)
    async with limits.admitted(opens=True):
        pass
    with pytest.raises(RateLimitedError) as begun:
        async with limits.admitted(opens=True):
            pass
    told = "RATE_LIMITED: the limit of 1 a minute for new conversations is reached. Nothing was sent. Ask again in"
    assert re.fullmatch(rf"{re.escape(told)} \d+ s\.", begun.value.sentence())
    assert 0 < begun.value.retry_after_seconds <= 60
    await pass_by(30)
    async with limits.admitted(opens=False):
        with pytest.raises(RateLimitedError, match="at once"):
            async with limits.admitted(opens=False):
                pass
    assert begun.value.retryable


async def test_a_turn_that_fails_gives_its_seat_back(store: Store) -> None:
    limits = limited(store)
    with pytest.raises(ZeroDivisionError):
        async with limits.admitted(opens=False):
            raise ZeroDivisionError
    async with limits.admitted(opens=False):
        pass


async def test_an_owner_without_room_asks_nothing_until_there_is_some(store: Store) -> None:
    moments = iter((0.0, 1.0, KNOWN_SECONDS))
    rates = OwnerRates(9, 9, 9, stored_bytes=10_000)
    limits = OwnerLimits("alice", store, rates, lambda: next(moments))
    conversation_id = await started(store, "x" * 10_000, "y")
    for _ in range(2):
        with pytest.raises(StorageLimitReachedError, match="10,000"):
            async with limits.admitted(opens=True):
                pass
    await store.trash.remove(await store.trash.put(conversation_id))
    async with limits.admitted(opens=True):
        pass


class Weighed:
    """A store that counts how often its size is asked for, and answers when it is let."""

    def __init__(self, store: Store) -> None:
        self.limits = store.limits
        self.answers = anyio.Event()
        self.is_asked = anyio.Event()
        self.asked_count = 0

    async def size_bytes(self) -> int:
        self.asked_count += 1
        self.is_asked.set()
        await self.answers.wait()
        return 0


async def test_questions_at_once_measure_the_room_of_their_owner_once(store: Store) -> None:
    weighed = Weighed(store)
    limits = limited(cast("Store", weighed), questions_per_minute=9, running_turns=9)

    async def ask() -> None:
        async with limits.admitted(opens=False):
            pass

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(ask)
        await weighed.is_asked.wait()
        await anyio.wait_all_tasks_blocked()
        weighed.answers.set()
    assert weighed.asked_count == 1


async def test_without_limits_nothing_is_counted(store: Store) -> None:
    limits = OwnerLimits("local", store, None)
    assert not limits.is_set
    for _ in range(5):
        async with limits.admitted(opens=True), limits.admitted(opens=True):
            pass
    assert await store.size_bytes() == 0


async def test_several_are_counted_at_once_or_none_of_them(
    store: Store, pass_by: Callable[[float], Awaitable[None]]
) -> None:
    assert await store.limits.take("alice", "messages", SLOW, 2) == 0
    assert await store.limits.take("alice", "messages", SLOW, 2) == pytest.approx(20 * 3600, abs=600)
    assert await store.limits.take("alice", "messages", SLOW, 1) == 0
    await pass_by(60 * 3600)
    assert await store.limits.take("alice", "messages", SLOW, 3) == 0
