"""One durable append at growing sizes, against what the best-known peers do for one."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from functools import partial

from tests.benchmarks.measuring import Benchmark, Plan, alternate
from tests.benchmarks.stopwatch import Stopwatch, our_stopwatch, peer_stopwatches
from tests.benchmarks.table import Budget, Row
from tests.fixtures.databases import is_installed, postgresql

ROUNDS = {10: 100, 50: 100, 100: 100, 200: 60, 1_000: 30, 10_000: 11}
NOT_INSTALLED = "the peer is not installed"
NEAR = Budget(1.6)
FASTER = Budget(1, below=True)
FOURFOLD = Budget(4)
AT_MOST_A_FIFTH_MORE = Budget(1.2)

# By peer: its name, and its budgets by number of messages.
PEERS = {
    "langchain": (
        "LangChain FileChatMessageHistory, not durable",
        {10: NEAR, 200: FASTER, 1_000: FASTER, 10_000: FASTER},
    ),
    "sqlite": ("OpenAI Agents SQLiteSession", {10: FOURFOLD, 50: FOURFOLD, 100: FOURFOLD}),
}

DATABASE_PEERS = {
    "langchain": "LangChain PostgresChatMessageHistory",
    "sqlalchemy": "OpenAI Agents SQLAlchemySession",
}
DATABASE_SIZES = (10, 1_000, 10_000)


def measure(messages: int, plan: Plan) -> Iterable[Row]:
    """Append to our file and to theirs in turn, each time to a conversation of just that size."""
    with (
        our_stopwatch("append", plan.scratch) as own,
        peer_stopwatches(plan.peers_python, tuple(PEERS), plan.scratch) as peers,
    ):
        sides = [partial(watch.milliseconds, messages) for watch in (own, *peers.values())]
        ours, *theirs = alternate(plan.rounds(ROUNDS[messages]), sides, warm_ups=3)
    medians = dict(zip(peers, theirs, strict=True))
    for kind, (against, budgets) in PEERS.items():
        yield Row(
            name=f"append-{messages}-{kind}",
            what=f"one durable append at {messages:,} messages of 2 KB",
            unit="ms",
            against=against,
            ours=ours,
            theirs=medians.get(kind),
            budget=budgets.get(messages),
            missing="" if kind in medians else NOT_INSTALLED,
        )


def measure_in_database(messages: int, plan: Plan) -> Iterable[Row]:
    """Append in PostgreSQL, and as the peers do on the same server, which syncs each commit."""
    if not is_installed():
        yield from (_in_database(messages, kind, None, None, "PostgreSQL is not installed") for kind in DATABASE_PEERS)
        return
    with (
        postgresql(fsync="on") as server,
        our_stopwatch("append", plan.scratch, server.database()) as own,
        _peers_in_database(plan, server.database()) as peers,
    ):
        sides = [partial(watch.milliseconds, messages) for watch in (own, *peers.values())]
        ours, *theirs = alternate(plan.rounds(ROUNDS[messages]), sides, warm_ups=3)
    medians = dict(zip((name.removesuffix("-postgresql") for name in peers), theirs, strict=True))
    for kind in DATABASE_PEERS:
        yield _in_database(messages, kind, ours, medians.get(kind), "" if kind in medians else NOT_INSTALLED)


def _peers_in_database(plan: Plan, url: str) -> AbstractContextManager[dict[str, Stopwatch]]:
    return peer_stopwatches(
        plan.peers_python, tuple(f"{kind}-postgresql" for kind in DATABASE_PEERS), plan.scratch, url
    )


def _in_database(messages: int, kind: str, ours: float | None, theirs: float | None, missing: str) -> Row:
    return Row(
        name=f"database-{messages}-{kind}",
        what=f"one durable append in PostgreSQL at {messages:,} messages of 2 KB",
        unit="ms",
        against=DATABASE_PEERS[kind],
        ours=ours,
        theirs=theirs,
        budget=AT_MOST_A_FIFTH_MORE,
        missing=missing,
    )


def measure_log(messages: int, plan: Plan) -> Iterable[Row]:
    """Store a message of a chatbot, against one that a session of the Agents SDK adds."""
    with (
        our_stopwatch("log", plan.scratch) as own,
        peer_stopwatches(plan.peers_python, ("sqlite",), plan.scratch) as peers,
    ):
        sides = [partial(watch.milliseconds, messages) for watch in (own, *peers.values())]
        ours, *theirs = alternate(plan.rounds(ROUNDS[messages]), sides, warm_ups=3)
    yield Row(
        name=f"log-{messages}",
        what=f"one store_message, its limit counted, at {messages:,} messages of 2 KB",
        unit="ms",
        against=PEERS["sqlite"][0],
        ours=ours,
        theirs=theirs[0] if theirs else None,
        missing="" if theirs else NOT_INSTALLED,
    )


BENCHMARKS = (
    *(
        Benchmark(tuple(f"append-{messages}-{kind}" for kind in PEERS), partial(measure, messages))
        for messages in ROUNDS
    ),
    *(
        Benchmark(
            tuple(f"database-{messages}-{kind}" for kind in DATABASE_PEERS), partial(measure_in_database, messages)
        )
        for messages in DATABASE_SIZES
    ),
    *(Benchmark((f"log-{messages}",), partial(measure_log, messages)) for messages in (10, 100)),
)
