"""A library of 100,000 conversations: a page of it, a search, the comparison with the folder, and what the index takes."""

import json
import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from time import perf_counter

from tests.benchmarks.corpus import Corpus
from tests.benchmarks.measuring import Benchmark, Plan, alternate
from tests.benchmarks.table import Budget, Row
from tests.fixtures.library import Shelf, child, output_of, wanted_of

from conversation_mcp.stores.headway import Headway

CONVERSATIONS = 100_000
QUICK_CONVERSATIONS = 2_000
FEW_CONVERSATIONS = 1_000
PAGE = 20
QUERY_WORDS, QUERY_CHARS = 3, 4
PAGES, SEARCHES, COMPARISONS = 50, 5, 5
MIB = 1 << 20
NAMES = ("library-page", "library-search", "library-compare", "library-memory", "library-build", "library-size")


def measure(plan: Plan) -> Iterable[Row]:
    """Generate the library, index it, and measure it against plain loops over the same files."""
    count = QUICK_CONVERSATIONS if plan.quick else CONVERSATIONS
    shelf = Shelf(plan.scratch / "many")
    Corpus().write(shelf.root, count)
    queries = queries_in(shelf.root)
    build = timed(lambda: shelf.index.rebuild(Headway()))
    parse = timed(lambda: read_all(shelf.root, json.loads))
    pages = [partial(timed, step) for step in (lambda: shelf.index.page(wanted_of(), PAGE), lambda: newest(shelf.root))]
    searches = [
        partial(timed, step)
        for step in (
            lambda: [shelf.index.page(wanted_of(query), PAGE) for query in queries],
            lambda: [scan(shelf.root, query) for query in queries],
        )
    ]
    comparisons = [
        partial(timed, step) for step in (lambda: shelf.index.compare(Headway()), lambda: stat_all(shelf.root))
    ]
    many = f"{count:,} conversations"
    page, newest_20 = alternate(plan.rounds(PAGES), pages)
    yield Row(
        "library-page",
        f"a page of {many}",
        "ms",
        "scandir, sort, read the newest 20",
        page,
        newest_20,
        budget(plan, 0.03),
    )
    search, scanned = alternate(plan.rounds(SEARCHES), searches)
    against = "every file read and scanned for each, case folded"
    yield Row("library-search", f"two searches in {many}", "ms", against, search, scanned, budget(plan, 0.02))
    compared, looked_at = alternate(plan.rounds(COMPARISONS), comparisons)
    against = "scandir and stat of each file"
    yield Row("library-compare", f"{many}, none changed", "ms", against, compared, looked_at, budget(plan, 3))
    yield memory(plan.scratch, count, budget(plan, 1.2))
    yield Row("library-build", f"the index of {many}", "ms", "every file read and parsed", build, parse)
    size, files = shelf.database.stat().st_size / MIB, read_all(shelf.root, len) / MIB
    yield Row("library-size", f"the index of {many}", "MiB", "the files", size, files)


def memory(scratch: Path, count: int, limit: Budget | None) -> Row:
    """Compare the peaks of two processes that list, one of them a small library."""
    few = Shelf(scratch / "few")
    Corpus().write(few.root, FEW_CONVERSATIONS)
    few.index.rebuild(Headway())
    many, few_of_them = (peak_mib(scratch / name) for name in ("many", "few"))
    against = f"the same of {FEW_CONVERSATIONS:,}"
    missing = "" if many else "this system has no /proc"
    return Row("library-memory", f"peak of a list of {count:,}", "MiB", against, many, few_of_them, limit, missing)


def peak_mib(folder: Path) -> float | None:
    """Return the peak of a process that lists the library in the folder, where the system tells it."""
    if not Path("/proc/self/status").exists():
        return None
    return int(output_of(child("peak", folder)).split()[1]) / 1024


def budget(plan: Plan, limit: float) -> Budget | None:
    """Return the budget; it is one for a large library."""
    return None if plan.quick else Budget(limit)


def timed(step: Callable[[], object]) -> float:
    """Return how many milliseconds the step takes."""
    started = perf_counter()
    step()
    return (perf_counter() - started) * 1000


def newest(root: Path) -> list[bytes]:
    """Read the newest, by their names."""
    names = sorted((entry.name for entry in os.scandir(root)), reverse=True)
    return [(root / name / "conversation.json").read_bytes() for name in names[:PAGE]]


def scan(root: Path, query: str) -> int:
    """Return how many files have one of the words in them."""
    words = query.casefold().split()
    return read_all(root, lambda body: any(word in body.decode().casefold() for word in words))


def stat_all(root: Path) -> None:
    """Look at each file."""
    for entry in os.scandir(root):
        os.stat(f"{root}/{entry.name}/conversation.json")  # noqa: PTH116 -- as fast as it can be


def read_all(root: Path, use: Callable[[bytes], object]) -> int:
    """Read each file and return the sum of what its use returns, where that is a number."""
    total = 0
    for entry in os.scandir(root):
        with open(f"{root}/{entry.name}/conversation.json", "rb") as file:  # noqa: PTH123 -- the same
            used = use(file.read())
        total += used if isinstance(used, int) else 0
    return total


def queries_in(root: Path) -> list[str]:
    """Return some words of a question in Latin script and some characters of one in Chinese, as a reader types them."""
    questions = (question_in(root / name) for name in sorted(entry.name for entry in os.scandir(root)))
    latin = next(question for question in questions if question.isascii())
    chinese = next(question for question in questions if "\u4e00" <= question[0] <= "\u9fff")
    return [" ".join(latin.split()[:QUERY_WORDS]), chinese[:QUERY_CHARS]]


def question_in(folder: Path) -> str:
    """Return the first question of a conversation."""
    return json.loads((folder / "conversation.json").read_bytes())["messages"][0]["content"]


BENCHMARKS = (Benchmark(NAMES, measure),)
