"""Whom a conversation stays with, and what is said where words would leave this machine unasked."""

from collections.abc import Iterable
from dataclasses import dataclass

from conversation_mcp.errors import WordsStayError
from conversation_mcp.providers.choosing.chosen import PERPLEXITY, Choice, kind_of
from conversation_mcp.providers.sides import side_of
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


def is_named(model: str | None, choice: Choice) -> bool:
    """Tell whether a call that says this model names who was chosen.

    The provider's own name does, also before a model, and so does a model that the provider itself makes, or an alias
    of the user's. A name that several may serve does not, nor that of a family, `auto`, or a server of this machine
    for what it passes on.
    """
    wanted, provider = (model or "").casefold(), choice.provider
    if wanted == provider.name:
        return side_of(provider) == choice.side
    if wanted.startswith((f"{provider.name}:", f"{provider.name}/")):
        return True
    if provider.name == PERPLEXITY:
        return choice.model is not None and "/" not in wanted and wanted == choice.model.casefold()
    is_own = choice.facts.is_own and wanted in map(str.casefold, choice.facts.aliases)
    return is_own or (kind_of(provider) == "direct" and wanted in choice.facts.names)


def check_writer(choice: Choice, whereabouts: Whereabouts) -> None:
    """Raise WordsStayError when the model that writes from documents must not get the conversation.

    The setting allows it for documents and what was said about them, not for words that only a model of this machine
    has.
    """
    others = [name for name in whereabouts.here if name != DOCUMENTS]
    if choice.side == HERE or not whereabouts.is_kept_here or not others:
        return
    raise WordsStayError(
        choice.naming,
        f"this conversation, which only {listed(others)} on this machine had until now,",
        f"Unset {variable_of('documents_model')} to have passages quoted instead",
    )


def listed(names: Iterable[str]) -> str:
    """Return names as a sentence has them."""
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last
