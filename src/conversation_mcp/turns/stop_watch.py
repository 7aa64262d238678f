"""The wishes to stop turns that other processes leave in the store."""

from contextlib import suppress

import anyio
from anyio.abc import TaskGroup

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.stores.base import Call, CallRegister
from conversation_mcp.turns.turn import RunningTurn

STOP_POLL_SECONDS = 0.5


class StopWatch:
    """Looks for wishes to stop the turns that it watches, for all of them at once."""

    def __init__(self, calls: CallRegister, tasks: TaskGroup) -> None:
        self._calls = calls
        self._tasks = tasks
        self._watched: dict[Call, RunningTurn] = {}
        self._is_looking = False

    def watch(self, turn: RunningTurn, call: Call) -> None:
        """Stop the turn, until it ends, if another process leaves word to do so."""
        self._watched[call] = turn
        if not self._is_looking:
            self._is_looking = True
            self._tasks.start_soon(self._look)

    async def _look(self) -> None:
        while self._watched:
            await anyio.sleep(STOP_POLL_SECONDS)
            self._watched = {call: turn for call, turn in self._watched.items() if not turn.has_ended}
            for call in await self._asked(tuple(self._watched)):
                if turn := self._watched.get(call):
                    turn.wishes.stop()
        self._is_looking = False

    async def _asked(self, calls: tuple[Call, ...]) -> tuple[Call, ...]:
        with suppress(ConversationMCPError):  # a store that is away must not end the turns
            return tuple(await self._calls.asked_to_stop(calls)) if calls else ()
        return ()
