"""Which conversation is meant: by its id, by the start of it, the last one, or by words in it."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from conversation_mcp.cli.output.terminal import say
from conversation_mcp.cli.selection.lists import say_notices
from conversation_mcp.cli.usage import WrongUsageError
from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.stores.files.newest import facts_in, newest
from conversation_mcp.stores.files.scan import File, find, read_each
from conversation_mcp.text import shorten

if TYPE_CHECKING:
    from conversation_mcp.records.found import Found
    from conversation_mcp.records.models import ConversationId

START = re.compile(r"[0-9]{1,8}|[0-9]{8}-[0-9]{0,13}")
LAST = "last"
WORDS = "/"
SHOWN_MATCHES = 5
SHOWN_CHARS = 60


class NoConversationError(ConversationMCPError):
    """There is no last conversation, because there is none at all, or none that was put away."""

    code = ConversationNotFoundError.code
    advice = 'Start one with: conversation-mcp ask "…"'

    def __init__(self, folder: Path, *, archived: bool) -> None:
        super().__init__(f"there are no {'archived ' if archived else ''}conversations in {folder}.")
        self.advice = "" if archived else self.advice


class NoMatchError(ConversationMCPError):
    """No conversation has the words."""

    code = ConversationNotFoundError.code
    advice = "Try other words with: conversation-mcp search"

    def __init__(self, words: str, folder: Path) -> None:
        super().__init__(f"no conversation in {folder} fits {shorten(words, SHOWN_CHARS)!r}.")


def resolve(folder: Path, text: str, *, archived: bool = False) -> "ConversationId":
    """Return the id that is meant; a whole id is taken as it is, whether or not there is such a conversation.

    Words stand for the conversation that fits them best; where others fit too, it is said which was taken. With
    `archived`, `last` is the last one that was put away, and words stand for such a one first.

    Raises:
        WrongUsageError: the text is no id, or the start of several.
        ConversationMCPError: no conversation is meant by it, or the folder cannot be read.
    """
    if SHAPE.fullmatch(text):
        return cast("ConversationId", text)
    if text == LAST:
        return _last(folder, archived=archived)
    if text.startswith(WORDS):
        return _best(folder, text.removeprefix(WORDS), archived=archived)
    if not START.fullmatch(text):
        raise WrongUsageError(
            f"ID must look like 20260131-1769817600000, be the start of such an id, last, or /words; "
            f"got {shorten(text, SHOWN_CHARS)!r}."
        )
    return _beginning(folder, text)


def _last(folder: Path, *, archived: bool) -> "ConversationId":
    page = newest(folder, 1, archived=archived)
    say_notices(page)
    if not page.found:
        raise NoConversationError(folder, archived=archived)
    return _id_of(page.found[0])


def _beginning(folder: Path, text: str) -> "ConversationId":
    files = [file for file in find(folder) if file.conversation_id.startswith(text)]
    if not files:
        raise ConversationNotFoundError(f"{text}…", str(folder))
    if len(files) > 1:
        raise WrongUsageError(_which(text, files))
    return files[0].conversation_id


def _which(text: str, files: Sequence[File]) -> str:
    """Return a question back, with the titles of the newest of those that may be meant."""
    shown = sorted(files, key=lambda file: file.conversation_id, reverse=True)[:SHOWN_MATCHES]
    titles = {file.conversation_id: facts.title for file, facts in read_each(shown, facts_in, [])}
    lines = [
        f"  {file.conversation_id}  {shorten(titles.get(file.conversation_id, ''), SHOWN_CHARS)}" for file in shown
    ]
    more = ["  …"] if len(files) > len(shown) else []
    head = f"{len(files):,} conversations begin with {text}. Type more of the id:"
    return "\n".join((head, *(line.rstrip() for line in lines), *more))


def _best(folder: Path, words: str, *, archived: bool) -> "ConversationId":
    from conversation_mcp.cli.selection.pages import index_of, pages
    from conversation_mcp.records.found import Wanted

    if not words.strip():
        raise WrongUsageError("after the / come words of the conversation: /b-tree")
    index = index_of(folder)
    first, second = Wanted(words), Wanted(words, state="archived")
    if archived:
        first, second = second, first
    page = next(pages(index, first, 2))
    say_notices(page)
    found = list(page.found or index.page(second, 2).found)
    if not found:
        raise NoMatchError(words, folder)
    if len(found) > 1:
        facts = found[0].facts
        title = shorten(facts.title, SHOWN_CHARS)
        say(f"{WORDS}{words} is taken for {facts.conversation_id}, {title}; others fit too.")
    return _id_of(found[0])


def _id_of(found: "Found") -> "ConversationId":
    return cast("ConversationId", found.facts.conversation_id)
