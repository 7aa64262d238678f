"""What `list` costs: the whole process, from its start to its last line, on a thousand conversations."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.benchmarks.measuring import Benchmark, Plan, alternate
from tests.benchmarks.stopwatch import TEXT
from tests.benchmarks.table import Budget, Row

from conversation_mcp.records.ids import created_at, id_at

CONVERSATIONS, TURNS, ROUNDS = 1_000, 3, 15
FIRST_MILLISECONDS, STEP_MILLISECONDS = 1_700_000_000_000, 97_001
LISTING = [sys.executable, "-m", "conversation_mcp", "list"]
IMPORTING = [sys.executable, "-c", "import pydantic"]


def measure_list(plan: Plan) -> Iterable[Row]:
    """List all conversations into a pipe, and import pydantic, in turn."""
    folder = plan.scratch / "conversation-logs"
    _write(folder)
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG") if name in os.environ}
    environment = {**kept, "HOME": str(plan.scratch), "CONVERSATION_LOGS_DIR": str(folder)}

    def milliseconds(command: Sequence[str]) -> float:
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment, cwd=plan.scratch)
        return (time.perf_counter() - started) * 1000

    ours, theirs = alternate(plan.rounds(ROUNDS), [lambda: milliseconds(LISTING), lambda: milliseconds(IMPORTING)])
    what = f"conversation-mcp list on {CONVERSATIONS:,} conversations, whole process"
    yield Row("list", what, "ms", 'python -c "import pydantic"', ours, theirs, Budget(3))


BENCHMARKS = (Benchmark(("list",), measure_list),)


def _write(folder: Path) -> None:
    for number in range(CONVERSATIONS):
        conversation_id = id_at(FIRST_MILLISECONDS + number * STEP_MILLISECONDS)
        at = created_at(conversation_id)
        messages = [
            message
            for turn in range(TURNS)
            for message in (
                {"role": "user", "content": f"What is question {turn} of {number}?", "createdAt": at},
                {"role": "assistant", "content": TEXT, "createdAt": at, "usage": {"costUsd": 0.0031}},
            )
        ]
        facts = {"conversationId": conversation_id, "createdAt": at, "updatedAt": at, "messageCount": 2 * TURNS}
        path = folder / conversation_id / "conversation.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({**facts, "messages": messages}, indent=2), encoding="utf-8")
