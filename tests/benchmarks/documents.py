"""The index of documents at 1,000, 10,000 and 100,000 files: making it, keeping it in step, asking, memory and size."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

from tests.benchmarks.corpus import Corpus
from tests.benchmarks.library import MIB, timed
from tests.benchmarks.measuring import Benchmark, Plan, alternate
from tests.benchmarks.stopwatch import ROOT
from tests.benchmarks.table import Row

from conversation_mcp.clock import utc_now
from conversation_mcp.documents.formats import Formats
from conversation_mcp.documents.library import DocumentLibrary
from conversation_mcp.documents.query_words import load_stopwords
from conversation_mcp.documents.question import Question
from conversation_mcp.documents.roots import roots_of
from conversation_mcp.documents.scope import Scope
from conversation_mcp.records.chat import ChatMessage

SIZES = (1_000, 10_000, 100_000)
QUICK_SIZE = 2_000
FEW = 1_000
LONG_AFTER = timedelta(hours=1)
"""Files that were written this moment are read again the next time; those of a user were written long ago."""
PER_FOLDER = 100
QUESTIONS, COMPARISONS = 5, 5
LIMIT = 4
PARTS = ("build", "compare", "question", "memory", "size")


def measure(size: int, plan: Plan) -> Iterable[Row]:
    """Write files of about 3 kB in many scripts, and measure against reading or looking at all of them."""
    few = plan.scratch / "few"
    _written(few / "documents", FEW)
    yield from _measured(plan, plan.scratch / "many", few, min(size, QUICK_SIZE) if plan.quick else size)


def _measured(plan: Plan, folder: Path, few: Path, size: int) -> Iterator[Row]:
    documents, indexes = folder / "documents", folder / "indexes"
    asked = _written(documents, size)
    read = timed(partial(_scan, documents, asked))
    library = library_of(documents, indexes)
    build = timed(partial(catch_up, library))
    many = f"{size:,} files"
    yield Row(f"documents-{size}-build", f"the index of {many}", "ms", "every file read and scanned", build, read)
    compare, looked = alternate(
        plan.rounds(COMPARISONS),
        [partial(timed, partial(catch_up, library)), partial(timed, partial(_look, documents))],
    )
    yield Row(f"documents-{size}-compare", f"{many}, none changed", "ms", "scandir and stat of each", compare, looked)
    question, scanned = alternate(
        plan.rounds(QUESTIONS),
        [partial(timed, partial(ask, library, asked)), partial(timed, partial(_scan, documents, asked))],
    )
    against = "every file read and scanned"
    yield Row(f"documents-{size}-question", f"a question to {many}", "ms", against, question, scanned)
    peak, peak_of_few = _peak_mib(folder), _peak_mib(few)
    missing = "" if peak else "this system has no /proc"
    what = f"peak of making the index of {many} and asking it"
    yield Row(f"documents-{size}-memory", what, "MiB", f"the same of {FEW:,}", peak, peak_of_few, missing=missing)
    kept = sum(path.stat().st_size for path in indexes.rglob("index.db*")) / MIB
    files = sum(path.stat().st_size for path in documents.rglob("*.md")) / MIB
    yield Row(f"documents-{size}-size", f"the index of {many}", "MiB", "the files", kept, files)


def library_of(documents: Path, indexes: Path) -> DocumentLibrary:
    """Open the documents."""
    return DocumentLibrary(roots_of([documents], None), indexes, lambda: utc_now() + LONG_AFTER, Formats())


def catch_up(library: DocumentLibrary) -> None:
    """Bring the index up to the files."""
    for _ in library.catch_up():
        pass


def ask(library: DocumentLibrary, question: str) -> None:
    """Ask, with the index as it is."""
    asked = Question.of([ChatMessage("user", question)], load_stopwords())
    library.find(asked, Scope(), LIMIT, by_parts=False)


def _written(folder: Path, size: int) -> str:
    """Write the files and return the beginning of a text of one of them as a question."""
    corpus = Corpus()
    asked = ""
    for number, texts in enumerate(corpus.texts(size)):
        path = folder / f"{number // PER_FOLDER:04}" / f"{number:06}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        sections = (f"## Part {place}\n\n{text}\n" for place, text in enumerate(texts, 1))
        path.write_text(f"# Document {number}\n\n" + "\n".join(sections), encoding="utf-8")
        if number == size // 2:
            asked = " ".join(texts[0].split()[:5])
    return asked


def _scan(folder: Path, question: str) -> int:
    words = question.casefold().split()
    found = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with open(f"{parent}/{name}", "rb") as file:  # noqa: PTH123 -- as fast as it can be
                text = file.read().decode().casefold()
            found += any(word in text for word in words)
    return found


def _look(folder: Path) -> None:
    for parent, _, names in os.walk(folder):
        for name in names:
            os.stat(f"{parent}/{name}")  # noqa: PTH116 -- as fast as it can be


def _peak_mib(folder: Path) -> float | None:
    if not Path("/proc/self/status").exists():
        return None
    command = [sys.executable, "-m", "tests.benchmarks.documents", str(folder)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return int(done.stdout.split()[0]) / 1024


def main() -> None:
    """Make the index of a folder anew, ask it, and print the peak of the memory that this took."""
    folder = Path(sys.argv[1])
    library = library_of(folder / "documents", folder / "again")
    catch_up(library)
    ask(library, next((folder / "documents").rglob("*.md")).read_text(encoding="utf-8")[:40])
    status = Path("/proc/self/status").read_text(encoding="ascii")
    print(status.partition("VmHWM:")[2].split()[0])


BENCHMARKS = tuple(
    Benchmark(tuple(f"documents-{size}-{part}" for part in PARTS), partial(measure, size)) for size in SIZES
)

if __name__ == "__main__":
    main()
