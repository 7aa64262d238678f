"""Measures against peers and prints one table: `python -m tests.benchmarks [--quick] [ROW ...]`.

Exits with 1 when something is over its budget. Without the peers their rows say so.
"""

import argparse
import math
import sys
import tempfile
from pathlib import Path

from tests.benchmarks import (
    appends,
    databases,
    documents,
    files,
    importing,
    library,
    listing,
    load,
    memories,
    prefix,
    refusals,
    serving,
    turns,
    vectors,
    viewing,
)
from tests.benchmarks.machine import description, load_average
from tests.benchmarks.measuring import Benchmark, Plan, is_named
from tests.benchmarks.retrieval import locomo
from tests.benchmarks.retrieval import rows as retrieval
from tests.benchmarks.stopwatch import ROOT
from tests.benchmarks.table import Row, exit_code, render, summary

BENCHMARKS: tuple[Benchmark, ...] = (
    *serving.BENCHMARKS,
    *listing.BENCHMARKS,
    *turns.BENCHMARKS,
    *appends.BENCHMARKS,
    *databases.BENCHMARKS,
    *library.BENCHMARKS,
    *importing.BENCHMARKS,
    *retrieval.BENCHMARKS,
    *locomo.BENCHMARKS,
    *documents.BENCHMARKS,
    *files.BENCHMARKS,
    *prefix.BENCHMARKS,
    *vectors.BENCHMARKS,
    *memories.BENCHMARKS,
    *viewing.BENCHMARKS,
    *load.BENCHMARKS,
    *refusals.BENCHMARKS,
)
PEERS_PYTHON = Path(sys.prefix) / "peers" / "bin" / "python"


def main() -> int:
    """Measure the rows that are asked for."""
    asked = _arguments()
    wanted: list[str] = asked.rows
    chosen = [benchmark for benchmark in BENCHMARKS if benchmark.is_wanted(wanted)]
    # Below the working tree, because a temporary folder may lie in memory, where a sync costs nothing.
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    load_before = load_average()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="bench-", dir=build) as folder:
        for number, benchmark in enumerate(chosen):
            print("measuring", *benchmark.names, file=sys.stderr)
            scratch = Path(folder) / str(number)
            scratch.mkdir()
            measured = benchmark.measure(Plan(scratch, asked.peers_python, asked.quick, asked.load_minutes))
            rows += [row for row in measured if is_named(row.name, wanted)]
    print(description(asked.peers_python, load_before), render(rows), summary(rows), sep="\n\n")
    return exit_code(rows)


def _arguments() -> argparse.Namespace:
    names = [name for benchmark in BENCHMARKS for name in benchmark.names]
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description="Measure against peers.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"rows, or what they begin with: {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: for trying, not for keeping")
    what = "end each side of load-… after so long, though not all its requests were sent; the rows say how many were"
    parser.add_argument("--load-minutes", type=float, default=math.inf, help=what)
    parser.add_argument("--peers-python", type=Path, default=PEERS_PYTHON, help="where the peers are installed")
    asked = parser.parse_args()
    for row in asked.rows:
        if not any(is_named(name, [row]) for name in names):
            parser.error(f"there is no row {row!r}; there are {', '.join(names)}")
    return asked


if __name__ == "__main__":
    sys.exit(main())
