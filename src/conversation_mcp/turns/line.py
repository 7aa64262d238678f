"""The line before the turn lock of a conversation: a turn waits in it, holds the lock, or leaves."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from conversation_mcp.cancellation import finish
from conversation_mcp.errors import (
    CallerGoneError,
    CancelledUnsentError,
    ConversationBusyError,
    ConversationMCPError,
    ServerEndingError,
)
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Store
from conversation_mcp.turns.turn import RunningTurn


@asynccontextmanager
async def holding(
    store: Store, conversation_id: ConversationId, turn: RunningTurn, wait_seconds: float
) -> AsyncGenerator[None]:
    """Hold the turn lock during the block.

    Raises:
        ConversationBusyError: another turn kept it for so many seconds.
        CancelledUnsentError, ServerEndingError: the turn was stopped, or its server ends.
        CallerGoneError: nobody is there any more who asked for this turn.
    """
    lock = None  # stays None if a wish cancels the wait
    with turn.wishes.line():
        # Only follow-ups queue: no other turn knows the id of a start, and to resume a turn that runs is no use.
        lock = await store.acquire_turn(
            conversation_id, wait_seconds if turn.course.is_queued else 0, turn.audience.report_queue
        )
    turn.course.is_queued = False
    if lock is None:
        raise why_left(turn, conversation_id)
    turn.course.holds_lock = True
    try:
        # A server that was suspended, or was slow to begin, has calls from before: who made them may have asked again
        # elsewhere, and have the answer.
        if await turn.audience.is_gone():
            turn.wishes.give_up()  # the same call in another request begins anew
            raise CallerGoneError
        yield
    finally:
        turn.course.holds_lock = False
        await finish(lock.release())  # a cancelled turn, too, must let the next one in


def why_left(turn: RunningTurn, conversation_id: ConversationId) -> ConversationMCPError:
    """Return the error of a turn whose wait was cancelled."""
    if turn.wishes.is_refused or turn.wishes.is_stopped:
        return ServerEndingError() if turn.wishes.is_refused else CancelledUnsentError()
    return ConversationBusyError(conversation_id, turn.audience.elapsed_seconds)
