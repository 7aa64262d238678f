"""One call of a model beside the questions of a conversation: for a summary of it, or for its decisions."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Protocol

import anyio

from conversation_mcp.errors import ProviderError, ProviderUnavailableError
from conversation_mcp.providers.base import Answer, Finished, PassedOn, Request, Started
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.model_facts import answer_limit
from conversation_mcp.providers.whereabouts import Side, Whereabouts
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.turns.provider_calls import ProviderCall
from conversation_mcp.turns.receiver import STOP_SECONDS

logger = logging.getLogger(__name__)


class Aside(Protocol):
    """What calls that belong together have in common."""

    @property
    def writer(self) -> Choice:
        """The model that is asked."""
        ...

    @property
    def whereabouts(self) -> Whereabouts:
        """Who has the words already."""
        ...

    @property
    def passed_on(self) -> Callable[[str, Side], Awaitable[None]]:
        """Called with whoever else gets the words, as soon as it is known."""
        ...

    @property
    def is_stopped(self) -> Callable[[], bool]:
        """Tells, once it is cancelled, whether a person has stopped it."""
        ...

    @property
    def calls(self) -> list[ProviderCall]:
        """The calls that were made."""
        ...


async def ask_aside(aside: Aside, messages: Sequence[ChatMessage], size: int, clean: Callable[[str], str]) -> Answer:
    """Ask once with messages of about so many tokens, and return the answer.

    Raises:
        ProviderError: none came.
    """
    writer, response_id = aside.writer, None
    request = Request(
        mode="chat",
        messages=tuple(each._replace(content=clean(each.content)) for each in messages),
        preset="",
        model=writer.model,
        whereabouts=aside.whereabouts,
        output_limit_tokens=answer_limit(writer.facts, size),
    )
    call = ProviderCall(writer.provider.name, writer.name)
    aside.calls.append(call)
    try:
        async with aclosing(call.observed(writer.provider.ask(request))) as events:
            async for event in events:
                match event:
                    case Finished():
                        return event.answer
                    case Started():
                        response_id = event.response_id
                    case PassedOn():
                        await aside.passed_on(event.provider, event.side)
                    case _:
                        pass
    except anyio.get_cancelled_exc_class():
        if response_id and aside.is_stopped():
            await _stop(writer, response_id)
        raise
    raise ProviderUnavailableError(f"{writer.provider.name} ended without an answer.", maybe_billed=True)


async def _stop(writer: Choice, response_id: str) -> None:
    """Stop the run at the provider, because a person stopped the turn."""
    with anyio.move_on_after(STOP_SECONDS, shield=True):
        try:
            await writer.provider.cancel(response_id)
        except ProviderError as error:
            logger.warning("a run beside a question could not be stopped: %s", error.message)
