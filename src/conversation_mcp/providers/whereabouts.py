"""Where words have been: on this machine alone, or at which providers outside of it."""

from dataclasses import dataclass
from typing import Literal

HERE = "this machine"
OUTSIDE = "outside"
Side = Literal["this machine", "outside"]


@dataclass(frozen=True)
class Whereabouts:
    """Who has the words of a conversation, oldest first; nobody, where nothing was sent or nobody knows."""

    here: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    is_part: bool = False
    """Whether that is so for a part of the conversation, which a merge brought; others had the rest."""

    @property
    def is_kept_here(self) -> bool:
        """Whether they have only been on this machine."""
        return bool(self.here) and not self.outside

    def also_at(self, name: str, side: Side) -> "Whereabouts":
        """Return where the words are once this provider has them too."""
        here, outside = (self.here, (*self.outside, name)) if side == OUTSIDE else ((*self.here, name), self.outside)
        return Whereabouts(tuple(dict.fromkeys(here)), tuple(dict.fromkeys(outside)), self.is_part)

    def holds(self, name: str, side: Side) -> bool:
        """Tell whether the words stay where they are when this provider gets them."""
        return side == HERE or name in self.outside


NOWHERE = Whereabouts()
