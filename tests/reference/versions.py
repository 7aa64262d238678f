"""The files that carry the package elsewhere, with the version of the package in them."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from conversation_mcp import __version__

ROOT = Path(__file__).parents[2]
VERSION = r"\d+\.\d+\.\d+[0-9a-z.+-]*"
PLACES: Mapping[str, str] = {
    "server.json": rf'(?<="version": "){VERSION}',
    "packaging/mcpb/manifest.json": rf'(?<="version": "){VERSION}',
    "packaging/claude-code-plugin/.claude-plugin/plugin.json": rf'(?<="version": "){VERSION}',
    "packaging/claude-code-plugin/.mcp.json": rf"(?<=conversation-mcp@){VERSION}",
    "Dockerfile": rf'(?<=image\.version="){VERSION}',
}
"""What stands for the version in each file."""


def with_version(name: str, version: str = __version__) -> str:
    """Return what the file holds, with this version wherever it names one.

    Raises:
        ValueError: it names none.
    """
    text, count = re.subn(PLACES[name], version, (ROOT / name).read_text(encoding="utf-8"))
    if not count:
        raise ValueError(f"{name} names no version")
    return text


VERSIONED: Mapping[str, Callable[[], str]] = {name: partial(with_version, name) for name in PLACES}
