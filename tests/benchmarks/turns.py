"""Our share of a follow-up: everything but the provider."""

from collections.abc import Iterable
from contextlib import ExitStack
from functools import partial

from tests.benchmarks.measuring import Benchmark, Plan, alternate
from tests.benchmarks.stopwatch import our_stopwatch
from tests.benchmarks.table import Budget, Row

ROUNDS = 100
MESSAGES = 20
BARE_WRITE = "the same file written, synced, renamed once"


def measure(plan: Plan) -> Iterable[Row]:
    """Run whole follow-ups and bare writes in turn."""
    kinds = ("turn", "turn-known-first", "bare-write")
    with ExitStack() as stack:
        watches = [stack.enter_context(our_stopwatch(kind, plan.scratch)) for kind in kinds]
        sides = [partial(watch.milliseconds, MESSAGES) for watch in watches]
        turn, known_first, bare = alternate(plan.rounds(ROUNDS), sides, warm_ups=5)
    what = f"our share of a follow-up, {MESSAGES} messages of 2 KB"
    yield Row("follow-up", f"{what}, two durable writes", "ms", BARE_WRITE, turn, bare, Budget(8))
    yield Row("follow-up-id", f"{what}, the run's id written too", "ms", BARE_WRITE, known_first, bare)


BENCHMARKS = (Benchmark(("follow-up", "follow-up-id"), measure),)
