"""One line of what the doctor found."""

from dataclasses import dataclass
from typing import Literal

from conversation_mcp.text import without_keys

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """What is in order, what a person should look at, or what does not work."""

    state: State
    text: str

    def line(self) -> str:
        """Return the finding as a person reads it."""
        return f"  {self.state:<5} {without_keys(self.text)}"
