"""The findings of checks, one line each."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from conversation_mcp.text import without_keys

SHOWN = 3


class Finding(NamedTuple):
    """The result of a check: in order, worth a look, or not working."""

    state: Literal["ok", "warn", "fail"]
    text: str

    def line(self) -> str:
        """Return the finding as a person reads it."""
        return f"  {self.state:<5} {without_keys(self.text)}"


def some(names: Sequence[str], shown: int = SHOWN) -> str:
    """Return the first few of the names."""
    return ", ".join(names[:shown]) + (", …" if len(names) > shown else "")
