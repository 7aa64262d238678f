"""Environment variables that people know from other servers, and their equivalents here."""

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files


def unread_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield a warning for each such variable that is set; one that other programs use too counts only beside others."""
    known = tomllib.loads(files("conversation_mcp").joinpath("settings_elsewhere.toml").read_text("utf-8"))
    sure, shared = ([name for name in known[kind] if environment.get(name)] for kind in ("sure", "shared"))
    for name in (*sure, *(shared if sure else ())):
        yield f"{name} is not read: {known['sure'].get(name) or known['shared'][name]}"
