"""The title of a conversation."""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from conversation_mcp.text import shorten, storable

if TYPE_CHECKING:
    from conversation_mcp.records.models import Conversation

TITLE_CHARS = 80
READ_CHARS = 1000
"""How much of a question is looked at for a title; a question may be megabytes of text."""
UNTITLED = "(empty)"
CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), " ")


def title_of(title: str | None, questions: Iterable[str]) -> str:
    """Return the title that was set, else the first question that is not blank, cut at a word to fit on a line."""
    lines = (line_of(text) for text in chain((title or "",), questions))
    return next(filter(None, lines), UNTITLED)


def line_of(text: str) -> str:
    """Return the text as one line that fits a list; empty if it is blank."""
    return shorten(storable(text[:READ_CHARS]).translate(CONTROLS), TITLE_CHARS)


def pending_questions(data: Mapping[str, Any]) -> list[str]:
    """Return the question that has no answer yet, if there is one."""
    pending = data.get("pendingTurn")
    return [pending["question"]] if pending else []


def title_of_conversation(conversation: "Conversation") -> str:
    """Return the title of a conversation that was read as a record."""
    asked = (message.content for message in conversation.messages if message.role == "user")
    pending = conversation.pending_turn
    return title_of(conversation.title, chain(asked, [pending.question] if pending else ()))
