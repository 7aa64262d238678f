"""The modes of a question."""

from collections.abc import Callable
from typing import Literal

Mode = Literal["search", "deep_research", "chat"]
ModeOf = Callable[[str | None], Mode | None]
"""Returns the mode of a stored question by the name of its tool; None if the tool no longer exists."""
