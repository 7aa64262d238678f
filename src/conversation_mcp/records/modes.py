"""What a question is asked for."""

from collections.abc import Callable
from typing import Literal

Mode = Literal["search", "deep_research", "chat"]
ModeOf = Callable[[str | None], Mode | None]
"""Tells what a stored question was asked for, by the name of its tool; None where nobody knows the tool any more."""
