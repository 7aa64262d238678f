"""The scripts that the server runs, each at once."""

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple


class Script(NamedTuple):
    """The text of a script, and the hash by which the server knows it once it has run."""

    text: str
    sha: str


@cache
def scripts() -> Mapping[str, Script]:
    """Return all scripts by their names."""
    folder = files("conversation_mcp.stores.redis") / "scripts"
    texts = {
        entry.name.removesuffix(".lua"): entry.read_text("utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".lua")
    }
    common = texts.pop("common")
    return MappingProxyType({name: _script(f"{common}\n{text}") for name, text in texts.items()})


def _script(text: str) -> Script:
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())
