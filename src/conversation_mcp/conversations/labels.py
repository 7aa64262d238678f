"""The labels that a person gives a conversation: title, tags, archived or not."""

from collections.abc import Callable, Iterable

from conversation_mcp.errors import Argument, InvalidInputError
from conversation_mcp.records.models import Conversation
from conversation_mcp.records.titles import CONTROLS
from conversation_mcp.text import fold, storable

MAX_TITLE_CHARS = 200
MAX_TAG_CHARS = 50
MAX_TAGS = 50

Retag = Callable[[tuple[str, ...]], Iterable[str]]
"""Makes the new tags from the present ones."""
Clean = Callable[[str], str]
"""Returns a text as it may be stored."""


def with_facts(
    conversation: Conversation,
    title: str | None = None,
    retag: Retag | None = None,
    archived: bool | None = None,
    clean: Clean = str,
) -> Conversation:
    """Return the conversation with the given labels; an empty title or list of tags is removed from the file.

    One that is taken out of the archive goes on, too, if it was completed.

    Raises:
        InvalidInputError: the title or a tag is too long, or there are too many tags.
    """
    changes: dict[str, object] = {}
    if title is not None:
        changes["title"] = title_line(title, clean) or None
    if retag is not None:
        changes["tags"] = clean_tags(retag(conversation.tags or ()), clean) or None
    if archived is not None:
        changes["archived"] = archived or None
        if not archived:
            changes["ended_at"] = None
    return conversation.changed(**changes)


def title_line(title: str | None, clean: Clean = str) -> str | None:
    """Return the title as it is stored, on one line, if there is one.

    Raises:
        InvalidInputError: it is too long.
    """
    return None if title is None else _line(Argument("title"), title, MAX_TITLE_CHARS, clean)


def clean_tags(tags: Iterable[str], clean: Clean = str) -> tuple[str, ...]:
    """Return the tags as they are stored: each on one line, and only once regardless of case.

    Raises:
        InvalidInputError: a tag is too long, or there are too many.
    """
    cleaned = (_line("a tag", tag, MAX_TAG_CHARS, clean, field="tags") for tag in tags)
    kept: dict[str, str] = {}
    for tag in cleaned:
        if tag:
            kept.setdefault(fold(tag), tag)
    if len(kept) > MAX_TAGS:
        raise InvalidInputError(f"a conversation can have up to {MAX_TAGS} tags; got {len(kept)}.", field="tags")
    return tuple(kept.values())


def _line(name: str, text: str, max_chars: int, clean: Clean, field: str | None = None) -> str:
    line = clean(" ".join(storable(text).translate(CONTROLS).split()))
    if len(line) > max_chars:
        raise InvalidInputError(name, f" must be at most {max_chars} characters long; got {len(line):,}.", field=field)
    return line
