"""Running of `git`: without shell, terminal or network, bounded in time and output, and ended with its children."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread
from typing import IO

from conversation_mcp.attaching.limits import RefusedError

NO_PROGRAM = "git is not installed, or not in PATH; install it, or name files"
WAIT_SECONDS = 0.05
READ_BYTES = 1 << 16
MAX_BYTES = 1 << 25
PROBLEM_BYTES = 4_096
KEPT = (
    "PATH", "HOME", "XDG_CONFIG_HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "SYSTEMROOT", "PATHEXT", "TMPDIR",
    "TEMP", "TMP", "SUDO_UID",
)  # fmt: skip
"""The only variables that git gets: others make it write files, start programs, or look elsewhere."""
ALWAYS = {
    "LC_ALL": "C",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_EDITOR": "false",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "false",
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS": "",
}
OPTIONS = (
    "--no-pager", "--no-optional-locks", "--literal-pathspecs",
    "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "protocol.allow=never",
    "-c", "credential.helper=", "-c", "core.pager=cat", "-c", "diff.external=",
)  # fmt: skip


@dataclass(frozen=True)
class GitOutput:
    """What git said. It was ended if that was more than was wanted."""

    data: bytes
    code: int
    problem: str
    """The beginning of what it said of errors."""
    is_cut: bool = False

    @property
    def line(self) -> str:
        """The only line of the output, such as a path."""
        return os.fsdecode(self.data.removesuffix(b"\n"))


class Program:
    """The program `git`; `check` is called while it runs, and ends it by raising."""

    def __init__(self, environment: Mapping[str, str], check: Callable[[], None]) -> None:
        found = shutil.which("git", path=environment.get("PATH", os.defpath))
        if found is None:
            raise RefusedError(NO_PROGRAM)
        self._path = str(Path(found).absolute())
        self._environment = {name: environment[name] for name in KEPT if name in environment} | ALWAYS
        self._check = check

    def run(
        self, *arguments: str, folder: str, extra: Mapping[str, str] | None = None, max_bytes: int = MAX_BYTES
    ) -> GitOutput:
        """Run git in a folder, with more variables, and return what it says, at most so many bytes.

        Raises:
            RefusedError: the time is over, or it cannot be started.
            StoppedError: nobody waits for it.
        """
        self._check()
        with TemporaryFile() as problems:
            process = _started(
                [self._path, *OPTIONS, *arguments], folder, {**self._environment, **(extra or {})}, problems
            )
            reader = _Reader(process.stdout, max_bytes)
            try:
                reader.start()
                while reader.is_alive():
                    reader.join(WAIT_SECONDS)
                    self._check()
                while not reader.is_cut and process.poll() is None:
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(WAIT_SECONDS)
                    self._check()
            finally:
                _end(process)
                reader.join()
                reader.close()
            problems.seek(0)
            problem = problems.read(PROBLEM_BYTES).decode("utf-8", "replace")
        return GitOutput(reader.data, process.returncode, problem, reader.is_cut)


class _Reader(Thread):
    """Reads what a process says, so that whoever waits for it can look at the time meanwhile."""

    def __init__(self, pipe: IO[bytes] | None, max_bytes: int) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self.is_cut = False

    def run(self) -> None:
        left = self._max_bytes + 1
        while self._pipe and left > 0 and (piece := self._pipe.read(min(left, READ_BYTES))):
            self._pieces.append(piece)
            left -= len(piece)
        self.is_cut = left <= 0

    def close(self) -> None:
        if self._pipe:
            self._pipe.close()

    @property
    def data(self) -> bytes:
        return b"".join(self._pieces)[: self._max_bytes]


def _started(
    command: Sequence[str], folder: str, environment: Mapping[str, str], problems: IO[bytes]
) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=problems,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
    except (OSError, ValueError):
        raise RefusedError("git cannot be started") from None


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End what still runs; the group of the process is its own, so that its children end, too."""
    if process.poll() is None:
        with suppress(OSError):
            if os.name == "nt":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
