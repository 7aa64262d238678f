"""The smallest client that can list tools: a process, and lines of JSON-RPC through its pipes."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import IO, Any

HANDSHAKE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}
END_SECONDS = 20


@dataclass(frozen=True)
class Listing:
    """The answer to tools/list as it came, and what it took from the start of the process on."""

    line: bytes
    milliseconds: float
    resident_mib: float | None

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools that the server has."""
        return json.loads(self.line)["result"]["tools"]


def list_tools(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Listing:
    """Start the server, list its tools and end it by closing its input."""
    started = perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=folder
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _send(process.stdin, {"id": 1, "method": "initialize", "params": HANDSHAKE})
            _answer(process.stdout, 1)
            _send(process.stdin, {"method": "notifications/initialized"})
            _send(process.stdin, {"id": 2, "method": "tools/list"})
            line = _answer(process.stdout, 2)
            milliseconds = (perf_counter() - started) * 1000
            resident_mib = _resident_mib(process.pid)
            process.stdin.close()
            process.wait(END_SECONDS)
        except BaseException:
            process.kill()
            raise
    return Listing(line, milliseconds, resident_mib)


def _send(pipe: IO[bytes], message: Mapping[str, object]) -> None:
    pipe.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    pipe.flush()


def _answer(pipe: IO[bytes], number: int) -> bytes:
    """Return the line that answers the request; what the server says meanwhile is passed over."""
    for line in pipe:
        message: dict[str, Any] = json.loads(line)
        if message.get("id") == number:
            assert "result" in message, message
            return line
    raise EOFError("the server ended without an answer")


def _resident_mib(process_id: int) -> float | None:
    """Return the memory that is in use now; None where the system does not tell it this way."""
    status = Path(f"/proc/{process_id}/status")
    if not status.exists():
        return None
    kib = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
    return int(kib) / 1024
