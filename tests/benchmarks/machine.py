"""What a table of measurements must say about where it was made."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from tests.benchmarks.stopwatch import HERE

from conversation_mcp.clock import utc_now

OWN = ("conversation-mcp", "mcp", "pydantic", "anyio", "filelock")
PRINT_VERSIONS = (
    "import sys, importlib.metadata as m; print(*(f'{name} {m.version(name)}' for name in sys.argv[1:]), sep=', ')"
)


def load_average() -> float | None:
    """Return how many processes wanted a core during the last minute, as far as the system tells."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def description(peers_python: Path, load_before: float | None) -> str:
    """Return the day, the machine in general terms, how busy it was, and the versions of both sides."""
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    if load_before is not None:
        machine += f", load {load_before:.1f} before and {load_average() or 0:.1f} after"
    own = ", ".join(f"{name} {version(name)}" for name in OWN)
    return f"{utc_now():%Y-%m-%d} · {machine}\nours: {own}\npeers: {_peers(peers_python)}"


def _peers(python: Path) -> str:
    lines = (HERE / "peers.txt").read_text().splitlines()
    names = [line.partition("==")[0] for line in lines if not line.startswith("#")]
    if python.exists():
        asked = subprocess.run(
            [str(python), "-P", "-c", PRINT_VERSIONS, *names], capture_output=True, text=True, check=False
        )
        if asked.returncode == 0:
            return asked.stdout.strip()
    return "not installed"
