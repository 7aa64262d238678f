"""One durable append at growing sizes, against what the best-known peers do for one."""

from collections.abc import Iterable
from functools import partial

from tests.benchmarks.measuring import Benchmark, Plan, alternate
from tests.benchmarks.stopwatch import our_stopwatch, peer_stopwatches
from tests.benchmarks.table import Budget, Row

ROUNDS = {10: 100, 50: 100, 100: 100, 200: 60, 1_000: 30, 10_000: 11}
NOT_INSTALLED = "the peer is not installed"
NEAR = Budget(1.6)
FASTER = Budget(1, below=True)
FOURFOLD = Budget(4)

# By peer: its name, and its budgets by number of messages.
PEERS = {
    "langchain": (
        "LangChain FileChatMessageHistory, not durable",
        {10: NEAR, 200: FASTER, 1_000: FASTER, 10_000: FASTER},
    ),
    "sqlite": ("OpenAI Agents SQLiteSession", {10: FOURFOLD, 50: FOURFOLD, 100: FOURFOLD}),
}


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


BENCHMARKS = tuple(
    Benchmark(tuple(f"append-{messages}-{kind}" for kind in PEERS), partial(measure, messages)) for messages in ROUNDS
)
