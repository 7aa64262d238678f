"""Looking at the files that a question names: a folder of 10,000 in a git repository, before any of them is read."""

import os
import subprocess
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from tests.benchmarks.library import timed
from tests.benchmarks.measuring import Benchmark, Plan, alternate
from tests.benchmarks.table import Budget, Row

from conversation_mcp.attaching.cache import FileCache
from conversation_mcp.attaching.limits import ReadLimits
from conversation_mcp.attaching.opening import looked_at
from conversation_mcp.attaching.outcome import Outcome
from conversation_mcp.attaching.secrets import SecretRules
from conversation_mcp.attaching.tools import Tools
from conversation_mcp.attaching.walking import FolderSearch
from conversation_mcp.documents.formats import Formats
from conversation_mcp.settings import Settings

SIZE, PER_FOLDER, ROUNDS = 10_000, 50, 15
IGNORED = 500
RULES = "__pycache__/\n*.pyc\n/build/\n/dist/\n*.log\n.venv/\n*.tmp\n!kept.log\n.coverage\ndocs/**/generated\n"


def measure_files(plan: Plan) -> Iterable[Row]:
    """Decide which files are read, and let git list all and look at each, in turn."""
    folder = plan.scratch / "repository"
    _write(folder)
    formats, limits = Formats(), ReadLimits.of(Settings())
    tools = Tools(limits, formats, SecretRules(formats), FileCache(), lambda _: True, lambda: 1.0, lambda: False)

    def ours() -> None:
        wanted = [path for path, is_wanted in FolderSearch(str(folder), (), tools, Outcome(limits)) if is_wanted]
        assert len(wanted) == SIZE
        for path in wanted[: limits.files]:
            looked_at(path)

    def theirs() -> None:
        command = ["git", "-C", str(folder), "ls-files", "-z"]
        listed = subprocess.run(command, check=True, capture_output=True).stdout.decode().split("\0")[:-1]
        for name in listed:
            os.stat(f"{folder}/{name}")  # noqa: PTH116 -- as fast as it can be
        assert len(listed) == SIZE + 1  # with .gitignore

    looked, git = alternate(plan.rounds(ROUNDS), [partial(timed, ours), partial(timed, theirs)], warm_ups=2)
    what = f"a folder of {SIZE:,} files in a git repository is looked at"
    yield Row("files", what, "ms", "git ls-files and os.stat of each", looked, git, Budget(1.5))


BENCHMARKS = (Benchmark(("files",), measure_files),)


def _write(folder: Path) -> None:
    folder.mkdir()
    (folder / ".gitignore").write_text(RULES, encoding="utf-8")
    for number in range(SIZE):
        path = folder / f"package{number // 1000}" / f"part{number // PER_FOLDER:03}" / f"module_{number:05}.py"
        if number % PER_FOLDER == 0:
            path.parent.mkdir(parents=True)
        path.write_bytes(b"def f() -> int:\n    return 1\n")
    for number in range(IGNORED):
        path = folder / (f"build/{number}.py" if number % 2 else f"package{number % 10}/old_{number}.log")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
