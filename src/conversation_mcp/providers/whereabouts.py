"""The providers that have received words, on this machine and outside it."""

from typing import Literal, NamedTuple

HERE = "this machine"
OUTSIDE = "outside"
Side = Literal["this machine", "outside"]


class Whereabouts(NamedTuple):
    """The recipients of a conversation's words, oldest first; none if nothing was sent or the file does not say."""

    here: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    is_part: bool = False
    """Whether this describes only a part that a merge added; the rest had other recipients."""

    @property
    def is_kept_here(self) -> bool:
        """Whether the words have only been on this machine."""
        return bool(self.here) and not self.outside

    def also_at(self, name: str, side: Side) -> "Whereabouts":
        """Return the recipients once this provider has the words, too."""
        here, outside = (self.here, (*self.outside, name)) if side == OUTSIDE else ((*self.here, name), self.outside)
        return Whereabouts(tuple(dict.fromkeys(here)), tuple(dict.fromkeys(outside)), self.is_part)

    def holds(self, name: str, side: Side) -> bool:
        """Tell whether the words get no further if this provider receives them."""
        return side == HERE or name in self.outside


NOWHERE = Whereabouts()
