"""Whom a conversation stays with, and what is said where words would leave this machine unasked."""

from collections.abc import Iterable
from dataclasses import dataclass

from conversation_mcp.errors import WordsStayError
from conversation_mcp.providers.auto import AUTO
from conversation_mcp.providers.resolving import Choice
from conversation_mcp.providers.whereabouts import DOCUMENTS, HERE, Whereabouts
from conversation_mcp.sources import variable_of


@dataclass(frozen=True)
class Kept:
    """A provider that has answered in the conversation, and the models that it was asked for there."""

    provider: str
    model: str | None = None
    """The one of its last question of the kind that is asked now; None where it took the default."""
    other_model: str | None = None
    """The last one of any kind."""
    is_of_mode: bool = False
    """Whether it has answered a question of that kind."""


def is_named(model: str | None) -> bool:
    """Tell whether a call names who is asked, which `auto` does not."""
    return model is not None and model.casefold().partition(":")[0] != AUTO


def check_writer(choice: Choice, whereabouts: Whereabouts) -> None:
    """Raise WordsStayError when the model that writes from documents must not get the conversation.

    The setting allows it for documents and what was said about them, not for words that only a model of this machine
    has.
    """
    others = [name for name in whereabouts.here if name != DOCUMENTS]
    if choice.side == HERE or not whereabouts.is_kept_here or not others:
        return
    raise WordsStayError(
        choice.shown,
        f"this conversation, which only {listed(others)} on this machine had until now,",
        f"Unset {variable_of('documents_model')} to have passages quoted instead",
    )


def listed(names: Iterable[str]) -> str:
    """Return names as a sentence has them."""
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last
