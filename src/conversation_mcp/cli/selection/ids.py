"""Resolves the ID argument of commands: an id, the start of one, `last`, or `/words`."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from conversation_mcp.cli.output.terminal import say
from conversation_mcp.cli.selection.lists import say_notices
from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError, InvalidInputError
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.stores.finder import Finder
from conversation_mcp.text import shorten

if TYPE_CHECKING:
    from conversation_mcp.records.found import Listed
    from conversation_mcp.records.models import ConversationId

START = re.compile(r"[0-9]{1,8}|[0-9]{8}-[0-9]{0,13}")
LAST = "last"
WORDS = "/"
SHOWN_MATCHES = 5
SHOWN_CHARS = 60


class NoConversationError(ConversationMCPError):
    """There is no last conversation, because none exists, or none is archived."""

    code = ConversationNotFoundError.code
    advice = 'Start one with: conversation-mcp ask "…"'

    def __init__(self, place: str, *, archived: bool) -> None:
        super().__init__(f"there are no {'archived ' if archived else ''}conversations in {place}.")
        self.advice = "" if archived else self.advice


class NoMatchError(ConversationMCPError):
    """No conversation matches the words."""

    code = ConversationNotFoundError.code
    advice = "Try other words with: conversation-mcp search"

    def __init__(self, words: str, place: str) -> None:
        super().__init__(f"no conversation in {place} fits {shorten(words, SHOWN_CHARS)!r}.")


def resolve(finder: Finder, text: str, *, archived: bool = False) -> "ConversationId":
    """Return the id that the text means; a whole id is returned unchecked, whether or not the conversation exists.

    Words mean the conversation that matches best; if others match too, a message names the chosen one. With
    `archived`, `last` is the last archived conversation, and words look among archived ones first.

    Raises:
        InvalidInputError: the text is not an id, or is the start of several.
        ConversationMCPError: no conversation matches, or the folder cannot be read.
    """
    if SHAPE.fullmatch(text):
        return cast("ConversationId", text)
    if text == LAST:
        return _last(finder, archived=archived)
    if text.startswith(WORDS):
        return _best(finder, text.removeprefix(WORDS), archived=archived)
    if not START.fullmatch(text):
        raise InvalidInputError(
            f"ID must look like 20260131-1769817600000, be the start of such an id, last, or /words; "
            f"got {shorten(text, SHOWN_CHARS)!r}."
        )
    return _beginning(finder, text)


def _last(finder: Finder, *, archived: bool) -> "ConversationId":
    page = finder.newest(1, archived=archived)
    say_notices(page)
    if not page.found:
        raise NoConversationError(finder.place, archived=archived)
    return _id_of(page.found[0])


def _beginning(finder: Finder, text: str) -> "ConversationId":
    ids = finder.ids(text)
    if not ids:
        raise ConversationNotFoundError(f"{text}…", finder.place)
    if len(ids) > 1:
        raise InvalidInputError(_which(finder, text, ids))
    return ids[0]


def _which(finder: Finder, text: str, ids: "Sequence[ConversationId]") -> str:
    """Return the message that asks for more of the id, with the titles of the newest candidates."""
    shown = ids[: -SHOWN_MATCHES - 1 : -1]  # the last ones, newest first
    titles = {facts.conversation_id: facts.title for facts in finder.facts(shown)}
    lines = [f"  {each}  {shorten(titles.get(each, ''), SHOWN_CHARS)}" for each in shown]
    more = ["  …"] if len(ids) > len(shown) else []
    head = f"{len(ids):,} conversations begin with {text}. Type more of the id:"
    return "\n".join((head, *(line.rstrip() for line in lines), *more))


def _best(finder: Finder, words: str, *, archived: bool) -> "ConversationId":
    from conversation_mcp.cli.selection.pages import found_pages
    from conversation_mcp.records.found import Wanted

    if not words.strip():
        raise InvalidInputError("the / must be followed by words of the conversation: /b-tree")
    first, second = Wanted(words), Wanted(words, state="archived")
    if archived:
        first, second = second, first
    page = next(found_pages(finder, first, 2))  # the second one only tells whether others match
    say_notices(page)
    found = list(page.found or finder.page(second, 2).found)
    if not found:
        raise NoMatchError(words, finder.place)
    if len(found) > 1:
        facts = found[0]
        title = shorten(facts.title, SHOWN_CHARS)
        say(f"{WORDS}{words} means {facts.conversation_id}, {title}; others match too.")
    return _id_of(found[0])


def _id_of(found: "Listed") -> "ConversationId":
    return cast("ConversationId", found.conversation_id)
