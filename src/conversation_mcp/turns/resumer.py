"""Resumes the turns of dead servers in the background of this process, one at a time in each conversation."""

import anyio

from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.turns.roster import RunningTurns
from conversation_mcp.turns.turn import NO_ASK, RunningTurn
from conversation_mcp.turns.worker import TurnWorker

FIRST_LOOK_SECONDS = 10.0


class Resumer:
    """Finds the outcome of a question that no process on this computer works on any more."""

    def __init__(self, worker: TurnWorker, running: RunningTurns) -> None:
        self._worker = worker
        self._running = running

    async def resume(self, conversation: Conversation) -> RunningTurn:
        """Look up the pending turn's run once and return; a run in the background is watched further by a task."""
        conversation_id = ConversationId(conversation.conversation_id)
        key = f"resume {conversation_id}"  # two readers of one conversation share the look
        turn = self._running.get(key)
        if turn is None:
            turn = RunningTurn(key, NO_ASK, conversation_id)
            self._running.begin(turn, self._worker.resume(turn, conversation_id))
        with anyio.move_on_after(FIRST_LOOK_SECONDS):
            await turn.audience.until(lambda: turn.course.has_looked or turn.has_ended)
        return turn
