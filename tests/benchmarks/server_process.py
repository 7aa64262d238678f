"""A server over HTTP whose processor time and memory are read from outside, as the system counts them."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.stopwatch import ROOT

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/|^(\d+)$", re.MULTILINE)
KIB = 1_024
WITHOUT_LIMITS = {
    f"CONVERSATION_MCP_MAX_{name}": str(most)
    for name, most in (
        ("QUESTIONS_PER_MINUTE", 10**9),
        ("CONVERSATIONS_PER_MINUTE", 10**9),
        ("RUNNING_TURNS", 1_000),
    )
}


class Measured(NamedTuple):
    """A running server."""

    port: int
    pid: int

    def cpu_seconds(self) -> float:
        """Return how long it has used a core, all its threads together."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_mib(self) -> float:
        """Return the memory that it takes now."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0]) / KIB


@contextmanager
def measured_server(command: list[str], environment: Mapping[str, str], scratch: Path) -> Generator[Measured]:
    """Start a server that prints its address or port, and end it after the block."""
    scratch.mkdir(parents=True, exist_ok=True)
    told = scratch / "output.log"
    with (
        told.open("wb") as output,
        subprocess.Popen(command, cwd=ROOT, env=dict(environment), stdout=output, stderr=output) as process,
    ):
        try:
            while not (found := ADDRESS.search(told.read_text("utf-8"))):
                if process.poll() is not None:
                    raise RuntimeError(told.read_text("utf-8"))
                time.sleep(0.05)
            yield Measured(int(found[1] or found[2]), process.pid)
        finally:
            process.terminate()
            process.wait(60)


def bare_command() -> list[str]:
    """Return how the bare echo server is started."""
    return [sys.executable, "-m", "tests.benchmarks.bare_http_server"]


def our_command() -> list[str]:
    """Return how this program is started."""
    return [sys.executable, "-m", "conversation_mcp", "serve", "--http", "--port", "0"]


def added_token(environment: Mapping[str, str], *options: str) -> str:
    """Return a new token, as the command line prints it."""
    command = [sys.executable, "-m", "conversation_mcp", "token", "add", *options]
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(environment))
    return run.stdout.splitlines()[-1]


def environment_of(scratch: Path, base_url: str = "", key: str = "", **settings: str) -> dict[str, str]:
    """Return the environment of a server that has its files in the scratch folder, and nothing of the user's own."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    own = {"HOME": str(scratch), "CONVERSATION_LOGS_DIR": str(scratch / "conversation-logs")}
    own["CONVERSATION_MCP_TOKENS_FILE"] = str(scratch / "tokens.json")
    provider = {"PERPLEXITY_API_KEY": key, "PERPLEXITY_BASE_URL": base_url} if base_url else {}
    return {**kept, **own, **provider, **WITHOUT_LIMITS, **settings}
