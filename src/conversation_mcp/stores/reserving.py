"""The ids of new conversations, in stores where any process can take any id first."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from conversation_mcp.records.ids import id_at, milliseconds_of
from conversation_mcp.records.models import ConversationId


async def first_free(at: datetime, reserve: Callable[[ConversationId], Awaitable[bool]]) -> ConversationId:
    """Reserve the first id from that millisecond on that nobody has, and return it."""
    milliseconds = milliseconds_of(at)
    while not await reserve(free := id_at(milliseconds)):
        milliseconds += 1
    return free
