"""One side of a comparison: a child process that times itself, one operation for each line that it is sent."""

import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TEXT_BYTES = 2048
SENTENCE = "A B-tree keeps its keys sorted in nodes of a fixed size, so that a lookup reads one node per level [1].\n"
TEXT = (SENTENCE * (TEXT_BYTES // len(SENTENCE) + 1))[:TEXT_BYTES]
"""The content of every message: plain ASCII, so that no side pays for escaping it."""


class Stopwatch:
    """A child process with one thing that it can do at a given number of messages."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def milliseconds(self, messages: int) -> float:
        """Do it once, on a conversation of so many messages, and return how long that took."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{messages}\n")
        self._process.stdin.flush()
        return float(self._next_line())

    def is_ready(self) -> bool:
        """Wait until the child has loaded what it needs; False when it cannot."""
        try:
            return self._next_line() == "ready"
        except EOFError:
            return False

    def _next_line(self) -> str:
        assert self._process.stdout is not None
        if line := self._process.stdout.readline():
            return line.strip()
        raise EOFError("a side of the benchmark has ended")


@contextmanager
def our_stopwatch(kind: str, scratch: Path, database: str = "") -> Generator[Stopwatch]:
    """Start one of our own sides; some need the URL of a database."""
    with _stopwatch([sys.executable, "-m", "tests.benchmarks.our_side", kind], scratch, database) as watch:
        assert watch.is_ready()
        yield watch


@contextmanager
def peer_stopwatches(
    python: Path, kinds: Sequence[str], scratch: Path, database: str = ""
) -> Generator[dict[str, Stopwatch]]:
    """Start the sides of the peers; those that are not installed are left out."""
    with ExitStack() as stack:
        watches: dict[str, Stopwatch] = {}
        for kind in kinds if python.exists() else ():
            command = [str(python), "-P", str(HERE / "peer_side.py"), kind]
            watches[kind] = stack.enter_context(_stopwatch(command, scratch, database))
        yield {kind: watch for kind, watch in watches.items() if watch.is_ready()}


@contextmanager
def _stopwatch(command: Sequence[str], scratch: Path, database: str) -> Generator[Stopwatch]:
    with subprocess.Popen(
        [*command, str(scratch), TEXT, database], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Stopwatch(process)
        finally:
            process.kill()
