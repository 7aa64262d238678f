"""One line for each request: when, who, what, how it ended and how long it took; never what was said."""

import json
import re
import sys
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple, TextIO

from conversation_mcp.records.models import iso

PLAIN = re.compile(r"[A-Za-z0-9_./-]{1,64}")
MAX_PARSED_BYTES = 256 * 1024
"""A larger body is not parsed once more only to log its method."""


class WantedCall(NamedTuple):
    """What a request asks for; `-` where it does not say so in a readable way."""

    method: str = "-"
    tool: str = "-"


NOTHING_WANTED = WantedCall()


class AccessLog:
    """Writes the lines. Names are quoted, so that none of them can look like another field or line."""

    def __init__(self, now: Callable[[], datetime], stream: TextIO | None = None) -> None:
        self._now = now
        self._stream = stream

    def write(self, caller: str | None, wanted: WantedCall, status: int, seconds: float) -> None:
        """Write the line of a request that has ended; `caller` is None if it was nobody known."""
        who = "-" if caller is None else json.dumps(caller)
        line = f"{iso(self._now())} access owner={who} method={wanted.method} tool={wanted.tool} "
        stream = self._stream or sys.stderr
        stream.write(f"{line}code={status} ms={round(seconds * 1_000)}\n")
        stream.flush()


def wanted_by(body: bytes) -> WantedCall:
    """Return what the body of a request asks for."""
    if len(body) > MAX_PARSED_BYTES:
        return NOTHING_WANTED
    try:
        match json.loads(body):
            case {"method": "tools/call", "params": {"name": str(tool)}}:
                return WantedCall("tools/call", _plain(tool))
            case {"method": str(method)}:
                return WantedCall(_plain(method))
            case _:
                return NOTHING_WANTED
    except (ValueError, RecursionError):
        return NOTHING_WANTED


def _plain(name: str) -> str:
    return name if PLAIN.fullmatch(name) else "?"
