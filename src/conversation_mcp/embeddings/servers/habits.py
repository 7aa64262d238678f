"""What a model wants before its texts, and how long its vectors shall be; the facts are in models.toml."""

import tomllib
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any, NamedTuple


class TextHabits(NamedTuple):
    """What is put before a question and a passage, and the dimensions to ask for; None leaves them to the server."""

    query: str = ""
    passage: str = ""
    dimensions: int | None = None


def habits_of(model: str) -> TextHabits:
    """Return the habits of a model by its name."""
    data: dict[str, Any] = tomllib.loads(
        files("conversation_mcp.embeddings").joinpath("models.toml").read_text("utf-8")
    )
    for one in data["models"]:
        if any(fnmatchcase(model.casefold(), pattern) for pattern in one.pop("names")):
            return TextHabits(**one)
    return TextHabits()
