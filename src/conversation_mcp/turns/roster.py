"""The turns of this process, from beginning to end."""

import logging
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import anyio
from anyio.abc import TaskGroup

from conversation_mcp.errors import ConversationMCPError, InternalError
from conversation_mcp.records.models import ConversationId
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.turn import RunningTurn, TurnOutcome

logger = logging.getLogger(__name__)


class RunningTurns:
    """Runs turns in the task group, so that the end of a request does not end its turn."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._turns: dict[str, RunningTurn] = {}
        self._ends_at: float | None = None
        self.on_end: list[Callable[[RunningTurn], Awaitable[None]]] = []
        """Called after each turn, except those that the end of the server cancels; they must not raise."""

    def __len__(self) -> int:
        """Return how many turns run."""
        return len(self._turns)

    def queued_count(self) -> int:
        """Return how many of them wait for an earlier one of their conversation."""
        return sum(turn.is_queued for turn in self._turns.values())

    def get(self, key: str) -> RunningTurn | None:
        """Return the running turn of this call."""
        return self._turns.get(key)

    def on(self, conversation_id: ConversationId) -> RunningTurn | None:
        """Return the turn that holds the lock of the conversation."""
        turns = (turn for turn in self._turns.values() if turn.conversation_id == conversation_id)
        return next((turn for turn in turns if turn.course.holds_lock), None)

    def begin(self, turn: RunningTurn, work: Coroutine[Any, Any, TurnResult | None]) -> None:
        """Run the work of a turn in the background until it has its outcome."""
        self._turns[turn.key] = turn
        if self._ends_at is not None:
            turn.refuse()
        self._tasks.start_soon(self._run, turn, work, name=f"turn {turn.key[:8]}")

    async def finish(self, grace_seconds: float) -> None:
        """Wait for the turns that would be lost with this process, at most that long since the first call."""
        if self._ends_at is None:
            self._ends_at = anyio.current_time() + grace_seconds
        # What is still in a queue ends at once, and does not use up the time of what has been sent.
        for turn in self._turns.values():
            turn.refuse()
        with anyio.CancelScope(deadline=self._ends_at, shield=True):
            for turn in tuple(self._turns.values()):  # turns leave the roster during the wait
                await turn.audience.until(turn.can_be_left)
        for turn in self._turns.values():
            turn.leave()

    async def _run(self, turn: RunningTurn, work: Coroutine[Any, Any, TurnResult | None]) -> None:
        """Run the work and raise nothing but cancellation: an error here would end the server."""
        outcome: TurnOutcome | None = None
        try:
            outcome = await work
        except ConversationMCPError as error:
            outcome = error
        except Exception:
            reference = secrets.token_hex(4)
            logger.exception("a turn failed unexpectedly, reference %s", reference)
            outcome = InternalError(reference)
        finally:
            # In this order: whoever wakes may begin the same call anew, and must not find this turn.
            self._turns.pop(turn.key, None)
            turn.end(outcome)
        for tell in self.on_end:
            await tell(turn)
