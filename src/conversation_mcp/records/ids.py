"""Conversation ids: a day and a millisecond of the same moment, both in UTC."""

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

from conversation_mcp.errors import Argument, InvalidInputError

if TYPE_CHECKING:
    from conversation_mcp.records.models import ConversationId

# Not `\d`, which takes the digits of all scripts.
SHAPE = re.compile(r"[0-9]{8}-[0-9]{13}")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SHOWN_CHARS = 60


def check_id(text: str) -> "ConversationId":
    """Return the text as an id. Only its shape is checked; the two halves need not agree.

    Raises:
        InvalidInputError: it is not an id, so no path may be built from it.
    """
    if SHAPE.fullmatch(text):
        return cast("ConversationId", text)
    shown = text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"
    raise InvalidInputError(
        Argument("conversationId"),
        f" must look like 20260131-1769817600000 (eight digits, a dash, thirteen digits); got {shown!r}.",
    )


def milliseconds_of(moment: datetime) -> int:
    """Return the whole milliseconds since 1970; earlier moments count as 1970."""
    return max(0, (moment - EPOCH) // timedelta(milliseconds=1))


def id_at(milliseconds: int) -> "ConversationId":
    """Return the id of the moment that many milliseconds after 1970."""
    return cast("ConversationId", f"{EPOCH + timedelta(milliseconds=milliseconds):%Y%m%d}-{milliseconds:013d}")


def created_at(conversation_id: "ConversationId") -> str:
    """Return the time of an id in ISO 8601, from its milliseconds rather than its date."""
    from conversation_mcp.records.models import iso

    return iso(EPOCH + timedelta(milliseconds=int(conversation_id[9:])))
