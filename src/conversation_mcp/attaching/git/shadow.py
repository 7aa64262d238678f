"""A second folder of git over the same history, without the repository's configuration, hooks and remotes.

Git has no switch that turns off all that a configuration can start: filters of contents, drivers of diffs, monitors,
helpers. So git never sees that configuration: it works in a folder of ours with a configuration of ours, which points
at the repository's objects and branches and holds a copy of its index.
"""

import os
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from conversation_mcp.attaching.git.program import MAX_BYTES, GitOutput, Program
from conversation_mcp.attaching.git.repository import ELSEWHERE, UNREADABLE, Repository, may_read
from conversation_mcp.attaching.limits import RefusedError
from conversation_mcp.attaching.places import Places, is_below

SHARED = ("refs", "packed-refs", "reftable", "logs", "shallow", "info")
OWN = ("HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")
STATES = {
    "MERGE_HEAD": "A merge is in progress.",
    "CHERRY_PICK_HEAD": "A cherry-pick is in progress.",
    "REVERT_HEAD": "A revert is in progress.",
    "rebase-merge": "A rebase is in progress.",
    "rebase-apply": "A rebase is in progress.",
}
MAX_ALTERNATES = 5
MAX_FILE_BYTES = 1 << 20


class Shadow:
    """Runs git over a repository."""

    def __init__(self, repository: Repository, program: Program, folder: str) -> None:
        self.repository = repository
        self._program = program
        self._folder = folder
        self._extra = {
            "GIT_DIR": folder,
            "GIT_OBJECT_DIRECTORY": str(Path(repository.common, "objects")),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        if repository.top:
            self._extra["GIT_WORK_TREE"] = repository.top

    def run(self, *arguments: str, max_bytes: int = MAX_BYTES) -> GitOutput:
        """Run git; raises as `Program.run`."""
        folder = self.repository.top or self._folder
        return self._program.run(*arguments, folder=folder, extra=self._extra, max_bytes=max_bytes)

    @property
    def states(self) -> tuple[str, ...]:
        """What is in progress in the repository, in sentences."""
        there = (said for name, said in STATES.items() if Path(self.repository.git_folder, name).exists())
        return tuple(dict.fromkeys(there))


@contextmanager
def shadow_of(repository: Repository, places: Places, program: Program, check: Callable[[], None]) -> Generator[Shadow]:
    """Make the folder, and remove it afterwards.

    Raises:
        RefusedError: parts of the repository are links that lead outside of the places, or it cannot be read.
        StoppedError: nobody waits for it.
    """
    with TemporaryDirectory(prefix="conversation-mcp-") as folder:
        try:
            for part in _parts(repository, check):
                if not is_below(part, repository.common) and not may_read(part, places):
                    raise RefusedError(ELSEWHERE)
            _fill(Path(folder), repository)
        except (OSError, ValueError, shutil.Error):
            raise RefusedError(UNREADABLE) from None
        yield Shadow(repository, program, folder)


def _parts(repository: Repository, check: Callable[[], None]) -> Iterator[str]:
    """Yield the real path of each part of the repository that is a link or could be one."""
    common, own = repository.common, repository.git_folder
    for folder, names in ((common, (*SHARED, "objects", "commondir")), (own, (*OWN, "index"))):
        for name in names:
            path = os.path.realpath(os.path.join(folder, name))  # noqa: PTH118 -- real paths
            if not is_below(path, own):
                yield path
    yield from _object_parts(os.path.join(common, "objects"), check, MAX_ALTERNATES)  # noqa: PTH118


def _object_parts(objects: str, check: Callable[[], None], depth: int) -> Iterator[str]:
    """Yield the real paths of links among the objects, and of other folders of objects that they name."""
    waiting = [objects]
    while waiting:
        check()
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    yield os.path.realpath(entry.path)
                elif entry.is_dir():
                    waiting.append(entry.path)
    for line in _lines(Path(objects, "info", "alternates")):
        if line and not line.startswith("#"):
            other = os.path.realpath(os.path.join(objects, line))  # noqa: PTH118
            yield other
            if depth and os.path.isdir(other):  # noqa: PTH112
                yield from _object_parts(other, check, depth - 1)


def _lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            return os.fsdecode(file.read(MAX_FILE_BYTES)).splitlines()
    except FileNotFoundError:
        return []


def _fill(folder: Path, repository: Repository) -> None:
    for name in OWN:
        source = Path(repository.git_folder, name)
        if source.is_file():
            folder.joinpath(name).write_bytes(source.read_bytes()[:MAX_FILE_BYTES])
    for name in SHARED:
        source = Path(repository.common, name)
        if source.exists():
            _link(source, folder / name)
    folder.joinpath("refs").mkdir(exist_ok=True)
    for source in Path(repository.git_folder).glob("sharedindex.*"):
        _copy(source, folder / source.name)
    if (index := Path(repository.git_folder, "index")).is_file():
        _copy(index, folder / "index")
    lines = [
        f"[{name.partition('.')[0]}]\n\t{name.partition('.')[2]} = {_quoted(value)}"
        for name, value in _settings(repository)
    ]
    folder.joinpath("config").write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogateescape")


def _settings(repository: Repository) -> Iterator[tuple[str, str]]:
    yield from repository.settings
    yield "core.bare", "false" if repository.top else "true"


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _link(source: Path, target: Path) -> None:
    try:
        target.symlink_to(source)
    except OSError:  # such as on Windows, where links need a privilege
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)


def _copy(source: Path, target: Path) -> None:
    """Copy with the time: files that changed after it are those that git compares by their content."""
    status = source.stat()
    shutil.copyfile(source, target)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
