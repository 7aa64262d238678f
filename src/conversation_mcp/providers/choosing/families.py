"""Names of whole families of models, such as flash or opus: which models they mean."""

import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files

FAMILIES = {
    name: re.compile(pattern)
    for name, pattern in tomllib.loads(
        files("conversation_mcp.providers.choosing").joinpath("families.toml").read_text("utf-8")
    ).items()
}
"""Read while this module is imported, like code: that happens once, and never while an event loop waits for a file."""


def is_family(name: str) -> bool:
    """Tell whether this is the name of a family."""
    return name.casefold() in FAMILIES


def belongs_to(family: str, names: Iterable[str]) -> bool:
    """Tell whether the model of these names, in small letters, is one of the family."""
    pattern = FAMILIES.get(family.casefold())
    return pattern is not None and any(pattern.fullmatch(name) for name in names)
