"""The names of calls: the process that holds a name works on the call, and a repetition of the call joins it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio

from conversation_mcp.cancellation import finish
from conversation_mcp.errors import ConversationBusyError, ServerEndingError
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Call, CallRegister
from conversation_mcp.stores.ears import Ear
from conversation_mcp.turns.call_outcomes import Dead, Delivered, Free, Running
from conversation_mcp.turns.earlier_calls import EarlierCalls
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.turn import RunningTurn

POLL_SECONDS = 0.2
MAX_LOOK_SECONDS = 5.0


class Claims:
    """Takes the names of calls for turns, each after any earlier call under that name has ended."""

    def __init__(self, calls: CallRegister, earlier: EarlierCalls) -> None:
        self._calls = calls
        self._earlier = earlier

    @asynccontextmanager
    async def taken(self, turn: RunningTurn, planned: Call | None = None) -> AsyncGenerator[TurnResult | None]:
        """Hold the name of the turn's call during the block, and yield the result of the same call made earlier.

        None means that there is no such result and the question may be asked. If the call was never made, `planned` is
        its record from here on; the block must go on to `registered`.

        Raises:
            EarlierTurnFailedError: the earlier call failed, and its caller never heard of it.
            ConversationBusyError, ServerEndingError: nobody here waits for it any more.
            ServerEndedError: its server died while this turn waited for it; it may have been billed.
            ProviderError: its run may still have an answer, which cannot be fetched now.
        """
        given = turn.claim.conversation_id
        try:
            match await self._end_of_earlier(turn, planned):
                case Delivered(call, result):
                    turn.claim.call = call
                    yield result
                    return
                case Dead() as dead:
                    given = await self._bury(turn, dead) or given
                case Free():
                    pass
            turn.claim.conversation_id, turn.claim.joined = given, None
            yield None
        finally:
            if turn.claim.held:
                await finish(turn.claim.held.release())

    @asynccontextmanager
    async def registered(self, turn: RunningTurn, call: Call) -> AsyncGenerator[None]:
        """Record what the name stands for before the block asks the question; undo it if nothing was asked."""
        is_recorded, turn.claim.call = turn.claim.call == call, call
        try:
            if not is_recorded:
                await self._calls.claim(turn.key, call)
            yield
        finally:
            if turn.question is None:
                await finish(self._undo(turn, call))

    async def _undo(self, turn: RunningTurn, call: Call) -> None:
        """Let the name stand for nothing, or for the earlier call, whose verdicts are still there."""
        if turn.claim.left is None:
            await self._calls.forget(turn.key, call)
            return
        turn.claim.call = None
        await self._calls.claim(turn.key, replace(turn.claim.left, is_told=True))

    async def _end_of_earlier(self, turn: RunningTurn, planned: Call | None) -> Delivered | Free | Dead:
        """Take the name, and wait for the outcome of the call made under it, if there is one."""
        with self._calls.hear(turn.key) as ear:
            return await self._waited(turn, planned, ear)

    async def _waited(self, turn: RunningTurn, planned: Call | None, ear: Ear) -> Delivered | Free | Dead:
        claim, seen = turn.claim, None
        was_joined, pause_seconds = False, POLL_SECONDS
        while True:
            if turn.wishes.is_refused:
                raise ServerEndingError
            if turn.wishes.is_given_up:
                raise ConversationBusyError(str(turn.conversation_id), turn.audience.elapsed_seconds)
            if claim.held:
                call = await self._calls.find(turn.key)
            else:
                claim.held, call = await self._calls.take(turn.key, None if seen else planned)
                claim.call = planned if claim.held and not (call or seen) else None
            # Another process forgets the call as soon as it has delivered the answer, which is then in the file.
            if seen := call or seen:
                claim.conversation_id = seen.conversation_id
            is_ours = claim.held is not None
            outcome = await self._earlier.outcome(turn.ask, seen, is_ours=is_ours, was_joined=was_joined)
            if not isinstance(outcome, Running):
                return outcome
            if is_ours:  # only the provider knows more now, and it should not be polled as fast as a local file
                pause_seconds = min(2 * pause_seconds, MAX_LOOK_SECONDS)
            was_joined = was_joined or not is_ours
            claim.joined = outcome
            turn.audience.report("the same question is already being answered")
            await (anyio.sleep(pause_seconds) if is_ours else ear.pause(pause_seconds))

    async def _bury(self, turn: RunningTurn, dead: Dead) -> ConversationId | None:
        """Forget the call; after a failed start, return its conversation instead, so that the question is asked there.

        A second try then fills the conversation that the first one left empty.
        """
        goes_on = dead.is_failed_start and not turn.is_follow_up
        if goes_on or dead.goes_on:
            await self._calls.claim(turn.key, replace(dead.call, is_told=True))
        else:
            await self._calls.forget(turn.key, dead.call)
        if dead.error:
            raise dead.error
        turn.claim.left = dead.call if dead.goes_on else None
        return dead.call.conversation_id if goes_on else None
