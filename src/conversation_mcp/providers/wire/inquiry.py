"""The facts about a question that its answer needs."""

from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Inquiry:
    """The facts about a question; `title` is the provider's. After a restart, nothing else is known."""

    title: str
    preset: str | None = None
    model: str | None = None
    related: bool | None = None
    """Whether related questions were requested; None if that is unknown after a restart."""
    notices: tuple[str, ...] = ()
    is_kept: bool = True
    """Whether the provider keeps the run, so that it can be found by its id."""
    wants_sources: bool = False
    """Whether an answer without any source gets a notice."""
    output_limit_tokens: int | None = None
    """The limit that was sent; some servers cut an answer there and do not say so."""

    secret: str = field(default="", repr=False)
    """The provider's key, which must not be in any error."""

    def noting(self, notices: tuple[str, ...]) -> "Inquiry":
        """Return a copy with these notices in front."""
        return replace(self, notices=(*notices, *self.notices))
