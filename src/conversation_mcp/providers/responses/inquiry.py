"""What an answer needs to know of its question."""

from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Inquiry:
    """The question as it concerns its answer; `title` is the provider's. One that nobody remembers has no more."""

    title: str
    preset: str | None = None
    model: str | None = None
    related: bool | None = None
    """Whether related questions were asked for; None when nobody remembers."""
    notices: tuple[str, ...] = ()
    is_kept: bool = True
    """Whether the provider keeps the run, so that it can be found by its id."""
    wants_sources: bool = False
    """Whether an answer without any source is worth a notice."""
    output_limit_tokens: int | None = None
    """The limit that was sent: some servers do not say that they cut the answer there."""

    secret: str = field(default="", repr=False)
    """What must be in no error of its answer: the provider's key."""

    def noting(self, notices: tuple[str, ...]) -> "Inquiry":
        """Return the same with notices put before."""
        return replace(self, notices=(*notices, *self.notices))
