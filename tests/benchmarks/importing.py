"""An export of ChatGPT of one gigabyte: imported, imported again, and read once with the standard library's json."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.measuring import Benchmark, Plan
from tests.benchmarks.table import Budget, Row

EXPORT_BYTES, QUICK_BYTES = 1_000_000_000, 20_000_000
TURNS = (1, 1, 2, 2, 4, 10)
QUESTION_WORDS, ANSWER_WORDS, WORD_COUNT, PATTERNS = 30, 300, 5_000, 300
STAND_IN, TIME_STAND_IN = "00000000-number-000000", 1_111_111_111.5
FIRST_SECOND, SECONDS_BETWEEN = 1_500_000_000, 600
READING = "import json, sys; print(len(json.load(open(sys.argv[1], encoding='utf-8'))))"
KIB_PER_MIB = 1024
NAMES = ("import-first", "import-again", "import-memory")


@dataclass(frozen=True)
class Ended:
    """A process that has ended well."""

    milliseconds: float
    peak_mib: float


def measure(plan: Plan) -> Iterable[Row]:
    """Generate the export, import it twice into a folder, and parse it as a whole; each once, it takes minutes."""
    size = QUICK_BYTES if plan.quick else EXPORT_BYTES
    export = plan.scratch / "conversations.json"
    count = _write(export, size)
    importing = [sys.executable, "-m", "conversation_mcp", "import", str(export), "--json"]
    parsed = _run([sys.executable, "-c", READING, str(export)], plan.scratch)
    first, again = (_run(importing, plan.scratch) for _ in range(2))
    what = f"of {count:,} conversations, {size / 1e9:g} GB"
    against = "json.load of the file, divided by the conversations"
    theirs = parsed.milliseconds / count
    yield Row("import-first", f"import {what}, each", "ms", against, first.milliseconds / count, theirs)
    yield Row("import-again", f"the same import again {what}, each", "ms", against, again.milliseconds / count, theirs)
    limit = None if plan.quick else Budget(0.1)
    yield Row("import-memory", f"peak of the import {what}", "MiB", "json.load", first.peak_mib, parsed.peak_mib, limit)


BENCHMARKS = (Benchmark(NAMES, measure),)


def _run(command: Sequence[str], scratch: Path) -> Ended:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environment = {**kept, "HOME": str(scratch), "CONVERSATION_LOGS_DIR": str(scratch / "conversation-logs")}
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment, cwd=scratch)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return Ended((time.perf_counter() - started) * 1000, usage.ru_maxrss / KIB_PER_MIB)


def _write(export: Path, size: int) -> int:
    """Write conversations until the file has the size, and return how many."""
    patterns, number, written = list(_patterns(random.Random(1))), 0, 0
    with export.open("w", encoding="utf-8") as file:
        while written < size:
            text = patterns[number % len(patterns)].replace(STAND_IN, f"00000000-number-{number:06}")
            text = text.replace(str(TIME_STAND_IN), str(FIRST_SECOND + number * SECONDS_BETWEEN + 0.5))
            written += file.write(("[" if number == 0 else ", ") + text)
            number += 1
        file.write("]")
    return number


def _patterns(chance: random.Random) -> Iterator[str]:
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(WORD_COUNT)]
    for place in range(PATTERNS):
        yield json.dumps(_conversation(chance, words, TURNS[place % len(TURNS)], 1_600_000_000 + place * 1000))


def _conversation(chance: random.Random, words: Sequence[str], turns: int, at: int) -> dict[str, Any]:
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["0"]}}
    parent = "root"
    for place in range(2 * turns):
        role, length = ("assistant", ANSWER_WORDS) if place % 2 else ("user", QUESTION_WORDS)
        message: dict[str, Any] = {
            "id": f"{STAND_IN}-{place}",
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": at + place * 10.5,
            "update_time": None,
            "content": {"content_type": "text", "parts": [" ".join(chance.choices(words, k=length))]},
            "status": "finished_successfully",
            "end_turn": True,
            "weight": 1.0,
            "metadata": {"model_slug": "gpt-5", "request_id": STAND_IN, "timestamp_": "absolute", "citations": []},
            "recipient": "all",
            "channel": None,
        }
        nodes[str(place)] = {"id": str(place), "message": message, "parent": parent, "children": [str(place + 1)]}
        parent = str(place)
    return {
        "title": " ".join(chance.choices(words, k=5)),
        "create_time": TIME_STAND_IN,
        "update_time": at + 500.25,
        "mapping": nodes,
        "current_node": parent,
        "conversation_id": STAND_IN,
        "id": STAND_IN,
        "default_model_slug": "gpt-5",
    }
