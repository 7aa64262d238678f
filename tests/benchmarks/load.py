"""The server over HTTP under the load of many clients, beside a bare echo server on the same SDK."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.load_client import Answered, Connection, converse, echo, read
from tests.benchmarks.load_floor import WRITES, floor_ms
from tests.benchmarks.measuring import Benchmark, Plan
from tests.benchmarks.server_process import (
    Measured,
    added_token,
    bare_command,
    environment_of,
    measured_server,
    our_command,
)
from tests.benchmarks.table import Budget, Row
from tests.fixtures.agent import KEY, agent_process

CLIENTS = 200
REQUESTS, QUICK_REQUESTS = 20_000, 2_000
OWNERS, QUICK_OWNERS = 1_000, 100
IN_CONVERSATION = 5
"""A start, three follow-ups and the history."""
WARM_UP_DIVISOR = 4
BARE = "bare echo server, same SDK"
GROWN = Budget(1.15)
STEADY = Budget(1.05)
QUARTERS = 4
NAMES = (
    "load-rate",
    "load-p50",
    "load-p99",
    "load-cpu",
    "load-cpu-history",
    "load-cpu-question",
    "load-errors",
    "load-lost",
    "load-memory",
    "load-memory-owners",
    "load-growth",
    "load-growth-owners",
)


class Load(NamedTuple):
    """What a server did under load, after it had been warmed up."""

    answered: Answered
    seconds: float
    cpu_seconds: float
    before_mib: float
    mib: tuple[float, ...]
    """The memory after each quarter of the requests."""

    @property
    def cpu_ms(self) -> float:
        """The processor time of one request."""
        return 1_000 * self.cpu_seconds / self.answered.count

    @property
    def rate(self) -> float:
        """The requests in a second."""
        return self.answered.count / self.seconds


Client = Callable[[Connection, int, Answered], Awaitable[None]]


def measure(plan: Plan) -> Iterable[Row]:
    """Load our server for one owner and for many, and the bare one."""
    if not Path("/proc/self/stat").exists():
        yield from (Row(name, "the server under load", "ms", BARE, None, None, missing="no /proc") for name in NAMES)
        return
    requests, owners = (QUICK_REQUESTS, QUICK_OWNERS) if plan.quick else (REQUESTS, OWNERS)
    seconds = 60 * plan.load_minutes
    bare = _bare(plan.scratch / "bare", requests, seconds)
    one = _ours(plan.scratch / "one", requests, 1, seconds)
    many = _ours(plan.scratch / "many", requests, owners, seconds)
    for load in (one, many):
        for problem in load.answered.errors[:3]:
            print("load:", problem, file=sys.stderr)
    asked = f"{one.answered.count:,} requests of {CLIENTS} clients"
    yield Row("load-rate", f"{asked}: start, 3 follow-ups, history", "per s", BARE, one.rate, bare.rate)
    for name, share in (("load-p50", 0.5), ("load-p99", 0.99)):
        ours, theirs = one.answered.quantile(share), bare.answered.quantile(share)
        yield Row(name, f"{share:.0%} of them answered within", "ms", BARE, ours, theirs)
    what = "processor time of a request beyond the SDK's own"
    yield Row("load-cpu", what, "ms", BARE, one.cpu_ms - bare.cpu_ms, bare.cpu_ms, Budget(1))
    read = _read(plan.scratch / "read", requests // QUARTERS, seconds)
    what = "the same of a request that reads a history"
    yield Row("load-cpu-history", what, "ms", BARE, read.cpu_ms - bare.cpu_ms, bare.cpu_ms, Budget(1))
    question_ms = (IN_CONVERSATION * one.cpu_ms - read.cpu_ms) / (IN_CONVERSATION - 1)
    least = f"a bare request to the provider, {WRITES} bare durable writes"
    what = "the same of a question"
    yield Row("load-cpu-question", what, "ms", least, question_ms - bare.cpu_ms, floor_ms(plan.scratch / "floor"))
    both = (one.answered, many.answered)
    errors, lost = sum(len(each.errors) for each in both), sum(each.lost_turns for each in both)
    count = sum(each.count for each in both)
    turns = count // IN_CONVERSATION * (IN_CONVERSATION - 1)
    yield Row("load-errors", f"errors, 1 owner and {owners:,}", "requests", "asked", errors, count, Budget(0))
    yield Row("load-lost", "turns that are not in the history", "turns", "asked", lost, turns, Budget(0))
    for name, load, whose in (("load-memory", one, "1 owner"), ("load-memory-owners", many, f"{owners:,} owners")):
        what = f"resident memory after {load.answered.count:,} requests, {whose}"
        yield Row(name, what, "MiB", "before them", load.mib[-1], load.before_mib, GROWN)
        growth = name.replace("memory", "growth")
        yield Row(growth, what, "MiB", "after the first quarter of them", load.mib[-1], load.mib[0], STEADY)


def _bare(scratch: Path, requests: int, longest_seconds: float) -> Load:
    async def client(connection: Connection, _number: int, answered: Answered) -> None:
        await echo(connection, answered)

    with measured_server(bare_command(), environment_of(scratch), scratch) as server:
        return asyncio.run(_loaded(server, client, requests, CLIENTS, "", longest_seconds))


def _ours(scratch: Path, requests: int, owners: int, longest_seconds: float) -> Load:
    async def client(connection: Connection, number: int, answered: Answered) -> None:
        await converse(connection, f"user-{number % owners}" if owners > 1 else "", str(number), answered)

    with agent_process() as base_url:
        environment = environment_of(scratch, base_url, KEY)
        scratch.mkdir()
        token = added_token(environment, "bot", "--may-act-for", "user-*")
        with measured_server(our_command(), environment, scratch) as server:
            header = f"Authorization: Bearer {token}\r\n"
            return asyncio.run(_loaded(server, client, requests, owners, header, longest_seconds))


def _read(scratch: Path, requests: int, longest_seconds: float) -> Load:
    known: dict[Connection, str] = {}

    async def client(connection: Connection, number: int, answered: Answered) -> None:
        if connection not in known:
            known[connection] = await converse(connection, "", str(number), Answered())
        await read(connection, known[connection], answered)

    with agent_process() as base_url:
        environment = environment_of(scratch, base_url, KEY)
        with measured_server(our_command(), environment, scratch) as server:
            return asyncio.run(_loaded(server, client, requests, 1, "", longest_seconds))


async def _loaded(
    server: Measured, client: Client, requests: int, owners: int, headers: str, longest_seconds: float
) -> Load:
    """Have the clients converse until every owner is known and what is remembered has filled up, then measure.

    The first takes no more than half of the time.
    """
    conversations = requests // IN_CONVERSATION
    warm_up = max(CLIENTS, owners, conversations // WARM_UP_DIVISOR)
    connections = [Connection(server.port, headers) for _ in range(CLIENTS)]

    mib: list[float] = []
    looks = {warm_up + conversations * quarter // QUARTERS for quarter in range(1, QUARTERS)}

    async def work(connection: Connection, numbers: Iterator[int], upto: int, answered: Answered) -> None:
        ends_at = time.perf_counter() + longest_seconds / 2
        while (number := next(numbers)) < upto and time.perf_counter() < ends_at:
            if number in looks:
                mib.append(server.resident_mib())
            await client(connection, number, answered)

    async def all_of(first: int, conversations: int) -> Answered:
        answered, numbers = Answered(), count(first)
        async with asyncio.TaskGroup() as tasks:
            for connection in connections:
                tasks.create_task(work(connection, numbers, first + conversations, answered))
        return answered

    warmed = await all_of(0, warm_up)
    before_mib, cpu, began = server.resident_mib(), server.cpu_seconds(), time.perf_counter()
    answered = await all_of(warm_up, conversations)
    seconds = time.perf_counter() - began
    cpu_seconds = server.cpu_seconds() - cpu
    answered.errors += warmed.errors  # a server must not fail while it warms up, either
    answered.lost_turns += warmed.lost_turns
    load = Load(answered, seconds, cpu_seconds, before_mib, (*mib, server.resident_mib()))
    for connection in connections:
        connection.close()
    return load


BENCHMARKS = (Benchmark(NAMES, measure),)
