"""The wishes to stop turns that other processes leave in the store."""

from contextlib import suppress

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.turns.turn import RunningTurn

STOP_POLL_SECONDS = 0.5


class StopWatch:
    """Stops turns if other processes leave word to do so; turns that look at the same time share one look."""

    def __init__(self, store: Store, tasks: TaskGroup) -> None:
        self._store = store
        self._tasks = tasks
        self._due: dict[Call, RunningTurn] = {}

    def watch(self, turn: RunningTurn, call: Call) -> None:
        """Heed wishes to stop the turn until it ends."""
        self._tasks.start_soon(self._heed, turn, call)

    async def _heed(self, turn: RunningTurn, call: Call) -> None:
        with self._store.hear(call.conversation_id) as ear:
            while not turn.has_ended:
                await ear.pause(_seconds_to_next_look())
                if not turn.has_ended:
                    await self._look(turn, call)

    async def _look(self, turn: RunningTurn, call: Call) -> None:
        is_first, self._due[call] = not self._due, turn
        if not is_first:
            return
        try:
            await checkpoint()  # so that all others whose pause ends now are looked for, too
        finally:
            due, self._due = self._due, {}
        with suppress(ConversationMCPError):  # a store that is away must not end the turns
            for asked in await self._store.calls.asked_to_stop(tuple(due)):
                due[asked].wishes.stop()


def _seconds_to_next_look() -> float:
    """Return the time to the next look, which is the same moment for all turns."""
    return STOP_POLL_SECONDS - anyio.current_time() % STOP_POLL_SECONDS
