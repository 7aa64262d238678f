"""An open question on its way: to the chosen model, then to those that may stand in."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import anyio
from anyio.abc import TaskGroup

from conversation_mcp.conversations.whereabouts import whereabouts_of
from conversation_mcp.errors import ProviderError, RunCancelledError
from conversation_mcp.prompting.history import messages_to_send
from conversation_mcp.prompting.room import Room
from conversation_mcp.providers.base import Event, Provider, Request
from conversation_mcp.providers.choosing.choice import Providers
from conversation_mcp.providers.choosing.chosen import Choice
from conversation_mcp.providers.choosing.stay import listed
from conversation_mcp.providers.whereabouts import Whereabouts
from conversation_mcp.records.models import Conversation
from conversation_mcp.stores.base import Call, Store
from conversation_mcp.turns import changes
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.runner import OpenTurn, TurnRunner
from conversation_mcp.turns.running import RunningTurn
from conversation_mcp.turns.sharing import sharing_notices

STOP_POLL_SECONDS = 0.5


class TurnSender:
    """Sends questions that are on disk; whoever calls holds the turn lock."""

    def __init__(self, store: Store, providers: Providers, runner: TurnRunner, room: Room, tasks: TaskGroup) -> None:
        self._store = store
        self._providers = providers
        self._runner = runner
        self._room = room
        self._tasks = tasks

    async def send(self, opened: OpenTurn, choice: Choice) -> TurnResult:
        """Put the question to the chosen model, then to those that may stand in, while nothing can have been billed.

        Raises:
            ProviderError: that of the last one that was asked, which stands in the file.
        """
        others: list[Choice] | None = None
        while True:
            try:
                return await self._put(opened, choice)
            except ProviderError as error:
                turn = opened.turn
                if not error.is_free or turn.response_id is not None:
                    raise
                if others is None:
                    others = await self._stand_ins(opened, choice, error)
                while others and not self._room.has(opened.conversation, opened.pending.question, others[0]):
                    others.pop(0)
                if not others or turn.is_stopped:
                    raise
                opened = await self._open_again(opened, choice, others[0], error)
                choice = others.pop(0)

    async def carry(self, opened: OpenTurn, provider: Provider, events: AsyncGenerator[Event]) -> TurnResult:
        """Consume the events of a provider to the saved answer; a stop that somebody wished ends its run.

        Raises:
            ConversationMCPError: there is no answer; the file says so.
        """
        turn = opened.turn
        self._tasks.start_soon(
            self._watch_for_stop, turn, Call(opened.conversation_id, opened.pending.started_at or "")
        )
        with turn.work:
            return await self._runner.carry(opened, provider, events)
        return await self._runner.stop(opened, provider, RunCancelledError(provider.name))

    async def _put(self, opened: OpenTurn, choice: Choice) -> TurnResult:
        turn = opened.turn
        turn.report(f"asking {choice.provider.name}")
        request = Request(
            mode=turn.ask.mode,
            messages=messages_to_send(opened.conversation, opened.pending.question),
            preset=turn.ask.preset,
            model=choice.model,
            options=turn.ask.options,
            whereabouts=self._whereabouts(opened.conversation),
        )
        return await self.carry(opened, choice.provider, choice.provider.ask(request))

    async def _stand_ins(self, opened: OpenTurn, choice: Choice, error: ProviderError) -> list[Choice]:
        """Return who may stand in; where words would leave this machine nobody does, and the error says so."""
        known = self._whereabouts(opened.conversation.changed(pending_turn=None))
        others = await self._providers.fallbacks(opened.turn.ask.mode, choice, known)
        able = [other for other in others if self._providers.may_stand_in(other, choice, known)]
        if left_out := [other.shown for other in others if other not in able]:
            error.message += f" Of the fallback list {listed(left_out)} did not stand in, outside of this machine."
        return able

    async def _open_again(self, opened: OpenTurn, choice: Choice, other: Choice, failure: ProviderError) -> OpenTurn:
        first, second = (one.name or one.provider.name for one in (choice, other))
        notice = (
            f"{first} did not take the question, and nothing was billed "
            f"({failure.code}: {failure.message.rstrip('.')}); {second} from the fallback list was asked instead"
        )
        before = opened.conversation.changed(pending_turn=None)
        opened.turn.send_to(other.provider.name, other.side)
        pending = opened.asked.model_copy(
            update={
                "provider": other.provider.name,
                "model": other.name,
                "notices": (
                    *(opened.pending.notices or ()),
                    notice,
                    *sharing_notices(before, other, self._providers.sides, may_leave=True),
                ),
            }
        )
        opened.turn.work = anyio.CancelScope()
        opened.turn.report(notice)
        await self._store.update(opened.conversation_id, lambda stored, _: changes.asked_again(stored, pending))
        return replace(opened, pending=pending)

    def _whereabouts(self, conversation: Conversation) -> Whereabouts:
        return whereabouts_of(conversation, self._providers.sides)

    async def _watch_for_stop(self, turn: RunningTurn, call: Call) -> None:
        while not turn.ended:
            await anyio.sleep(STOP_POLL_SECONDS)
            if not turn.ended and await self._store.calls.is_asked_to_stop(call):
                turn.stop()
