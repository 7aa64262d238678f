"""Our share of a follow-up: everything but the provider."""

from collections.abc import Iterable
from contextlib import ExitStack
from functools import partial

from tests.benchmarks.measuring import Benchmark, Plan, alternate
from tests.benchmarks.stopwatch import our_stopwatch
from tests.benchmarks.table import Budget, Row

ROUNDS = 100
MESSAGES = 20
NAMED = 40
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


def measure_files(plan: Plan) -> Iterable[Row]:
    """Run follow-ups that name files which the conversation has, and others beside these files, in turn."""
    kinds = ("turn-with-files", "turn-beside-files")
    with ExitStack() as stack:
        watches = [stack.enter_context(our_stopwatch(kind, plan.scratch)) for kind in kinds]
        sides = [partial(watch.milliseconds, MESSAGES) for watch in watches]
        named, beside = alternate(plan.rounds(ROUNDS), sides, warm_ups=5)
    what = f"our share of a follow-up that names {NAMED} unchanged files again, {MESSAGES} messages of 2 KB"
    yield Row("follow-up-files", what, "ms", "the same without naming them", named, beside, Budget(1.3))


BENCHMARKS = (Benchmark(("follow-up", "follow-up-id"), measure), Benchmark(("follow-up-files",), measure_files))
