"""A conversation as a page: its head, and the part of it that is shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from conversation_mcp.conversations.sections import Sections
from conversation_mcp.exporting.file_texts import FileTexts
from conversation_mcp.exporting.html.markdown import SafeMarkdown
from conversation_mcp.exporting.html.page import fact_line
from conversation_mcp.exporting.html.sections import SectionView, section_view
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.models import Conversation
from conversation_mcp.text import one_line

PART = 40
"""How many sections are sent at a time."""
BEFORE = 5
"""How many sections stand before the one that a link leads to."""


@dataclass(frozen=True)
class ShownPart:
    """Some sections of a conversation, and where they stand among all of them."""

    first: int
    views: tuple[SectionView, ...]
    earlier: int | None
    """Where the part before it begins; None if there is none."""
    later: int | None
    """Where the part after it begins; None if there is none."""
    is_running: bool
    """Whether its last section is a question that is being answered."""


@dataclass(frozen=True)
class Head:
    """The facts about a conversation that stand below its title."""

    facts: str
    path: str
    tags: str
    origins: tuple[str, ...]
    """The conversations that it came from."""
    related: tuple[tuple[str, str], ...]
    """The conversations that belong with it, and how."""


def head_of(conversation: Conversation, path: str) -> Head:
    """Return the head of a conversation whose file is at the path; an empty one is not shown."""
    named = [conversation.parent or {}, *(conversation.parents or ())]
    origins = (str(cast("Mapping[str, object]", each).get("conversationId", "")) for each in named)
    return Head(
        facts=fact_line(conversation),
        path=path,
        tags=", ".join(conversation.tags or ()),
        origins=tuple(dict.fromkeys(origin for origin in origins if SHAPE.fullmatch(origin))),
        related=tuple(
            (each.conversation_id, one_line(each.type.replace("_", "-")))
            for each in conversation.related or ()
            if SHAPE.fullmatch(each.conversation_id)
        ),
    )


def part_of(
    conversation: Conversation, first: int | None = None, at: int | None = None, *, to_end: bool = False
) -> ShownPart:
    """Return a part of the conversation: from the `first` section on, or around the message `at`, or the last one.

    With `to_end` it goes on to the end, however far that is.
    """
    found = Sections(conversation)
    if first is None:
        place = None if at is None else found.place_of(at)
        first = len(found) - PART if place is None else place - BEFORE
    first = min(max(0, first), len(found))
    end = len(found) if to_end else min(len(found), first + PART)
    markdown, texts = SafeMarkdown(), FileTexts({})
    pending = conversation.pending_turn
    return ShownPart(
        first=first,
        views=tuple(
            section_view(section, place, markdown, texts)
            for place, section in enumerate(found.part(first, end), first + 1)
        ),
        earlier=max(0, first - PART) if first else None,
        later=end if end < len(found) else None,
        is_running=end == len(found) and pending is not None and pending.status == "running",
    )
