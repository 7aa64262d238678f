"""Headers of which a proxy and this server might each believe another one."""

import re
from collections import Counter

from conversation_mcp.server.http.callers import HeaderLines

ONCE = frozenset(
    (
        b"authorization",
        b"content-length",
        b"content-type",
        b"host",
        b"mcp-method",
        b"mcp-name",
        b"mcp-protocol-version",
        b"mcp-session-id",
        b"origin",
        b"transfer-encoding",
    )
)
"""Headers that may come only once."""
ADDRESS = re.compile(rb"([a-z]+://)?(\[[0-9a-f:.]+\]|[^\s:,/@\[\]]*)(:[0-9]*)?", re.IGNORECASE)
"""A host or an origin. The SDK compares what is before a colon, whatever comes after it."""


def ambiguity_of(headers: HeaderLines) -> str | None:
    """Return what a proxy might understand otherwise than this server."""
    lines = tuple(headers)
    counts = Counter(name for name, _ in lines if name in ONCE)
    if {b"content-length", b"transfer-encoding"} <= counts.keys():
        return "content-length and transfer-encoding exclude each other"
    if not all(ADDRESS.fullmatch(value) for name, value in lines if name in (b"host", b"origin")):
        return "host and origin must name one host, and its port by a number"
    return next((f"{name.decode()} must come only once" for name, count in counts.items() if count > 1), None)
