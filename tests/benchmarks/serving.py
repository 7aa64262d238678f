"""What a client pays before the first question: the start of the process, its memory, and the list of tools."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median

from tests.benchmarks.measuring import Benchmark, Plan
from tests.benchmarks.stdio_client import Listing, list_tools
from tests.benchmarks.stopwatch import HERE, ROOT, TEXT
from tests.benchmarks.table import Budget, Row

ROUNDS = 21
BARE = "bare three-tool server, same SDK"
OURS = [sys.executable, "-m", "conversation_mcp"]
BARE_COMMAND = [sys.executable, str(HERE / "bare_server.py")]

# The tools/list answer of the npm package @perplexity-ai/mcp-server 1.2.1, which has four tools and keeps nothing: the
# line as it stands on the pipe, and the `tools` list alone as compact JSON in o200k tokens. Ours is counted the same.
OFFICIAL = "@perplexity-ai/mcp-server 1.2.1, four tools"
OFFICIAL_BYTES = 7_563
OFFICIAL_TOKENS = 1_683


def measure_start(plan: Plan) -> Iterable[Row]:
    """Start the servers in turn; the first of each compiles the modules and does not count."""
    environment = _environment(plan.scratch)
    documents = plan.scratch / "documents"
    documents.mkdir()
    (documents / "note.md").write_text(f"# A note\n\n{TEXT}", encoding="utf-8")
    starts = {"start": [], "start-serve": ["serve"], "start-documents": ["--documents", str(documents)]}
    settings = {"start-consult": {"CONVERSATION_MCP_TOOLS": "research,consult"}}
    starts |= {name: [] for name in settings}
    ours: dict[str, list[Listing]] = {name: [] for name in starts}
    bare: list[Listing] = []
    for _ in range(plan.rounds(ROUNDS) + 1):
        for name, arguments in starts.items():
            own = {**environment, **settings.get(name, {})}
            ours[name].append(list_tools([*OURS, *arguments], own, plan.scratch))
        bare.append(list_tools(BARE_COMMAND, environment, plan.scratch))
    for name, arguments in starts.items():
        how = f", with {arguments[0]}" if arguments else ", with the set consult" if name in settings else ""
        yield Row(
            name=name,
            what=f"process start to the answer to tools/list{how}",
            unit="ms",
            against=BARE,
            ours=median(listing.milliseconds for listing in ours[name][1:]),
            theirs=median(listing.milliseconds for listing in bare[1:]),
            budget=Budget(1.15),
        )
    our_mib, bare_mib = _resident(ours["start"][1:]), _resident(bare[1:])
    yield Row(
        name="memory",
        what="resident memory while serving",
        unit="MiB",
        against=BARE,
        ours=our_mib,
        theirs=bare_mib,
        budget=Budget(1.2),
        missing="" if our_mib else "this system has no /proc",
    )


def measure_tools(plan: Plan) -> Iterable[Row]:
    """Weigh what every model reads before it does anything."""
    listing = list_tools(OURS, _environment(plan.scratch), plan.scratch)
    what = f"tools/list, default set of {len(listing.tools)} tools"
    fewer = Budget(1, below=True)
    yield Row("tools-bytes", what, "bytes", OFFICIAL, len(listing.line), OFFICIAL_BYTES, fewer)
    tokens = _tokens(plan.peers_python, json.dumps(listing.tools, separators=(",", ":"), ensure_ascii=False))
    missing = "" if tokens else "the package with the o200k vocabulary is not installed"
    yield Row("tools-tokens", what, "tokens", OFFICIAL, tokens, OFFICIAL_TOKENS, fewer, missing)


BENCHMARKS = (
    Benchmark(("start", "start-serve", "start-documents", "start-consult", "memory"), measure_start),
    Benchmark(("tools-bytes", "tools-tokens"), measure_tools),
)


def _environment(scratch: Path) -> Mapping[str, str]:
    """Return an environment without keys and settings, so that both servers start alike on every machine."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG") if name in os.environ}
    return {**kept, "HOME": str(scratch), "CONVERSATION_LOGS_DIR": str(scratch / "conversation-logs")}


def _resident(listings: Iterable[Listing]) -> float | None:
    known = [listing.resident_mib for listing in listings if listing.resident_mib is not None]
    return median(known) if known else None


def _tokens(python: Path, text: str) -> int | None:
    if not python.exists():
        return None
    counted = subprocess.run(
        [python, "-P", HERE / "peer_tokens.py"], cwd=ROOT, input=text.encode(), capture_output=True, check=False
    )
    return int(counted.stdout) if counted.returncode == 0 else None
