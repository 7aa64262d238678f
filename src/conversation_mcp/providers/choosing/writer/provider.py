"""The combination of a provider that finds passages with a model that writes the answer from them."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from anyio import to_thread

from conversation_mcp.errors import (
    ConversationTooLongError,
    InvalidInputError,
    ModelUnavailableError,
    ProviderNotConfiguredError,
    ProviderUnavailableError,
    RunLostError,
)
from conversation_mcp.providers.base import (
    Answer,
    Event,
    Finished,
    PassedOn,
    Provider,
    Quotes,
    Reader,
    Request,
    Started,
    StillRunning,
    Survey,
    TextDelta,
)
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.choosing.writer.passages import checked, framed
from conversation_mcp.providers.estimate import tokens_of, usable
from conversation_mcp.providers.model_facts import answer_limit
from conversation_mcp.providers.whereabouts import Whereabouts
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.models import Source
from conversation_mcp.records.modes import Mode
from conversation_mcp.records.options import Options
from conversation_mcp.sources import variable_of

SETTING = variable_of("documents_model")
NOT_ASKED = "no passage fits the question, so no model was asked"
FORGOTTEN = "this answer was fetched after a restart; which passages its numbers refer to is no longer known"

Choose = Callable[[Callable[[], Awaitable[int]], Whereabouts], Awaitable[Choice]]
"""Returns the model that writes, given the needed size of window and the recipients so far."""
Named = Callable[[str], Awaitable[Provider | None]]
"""Returns the provider with a name."""


@dataclass(frozen=True)
class _Run:
    """The sources that an answer is checked against, and its notices."""

    sources: tuple[Source, ...]
    notices: tuple[str, ...]

    def answer(self, written: Answer, response_id: str | None) -> Answer:
        """Return the model's text as an answer from the passages."""
        text, unknown = checked(written.content, self.sources)
        notices = list(self.notices)
        if unknown:
            numbers = ", ".join(f"[{number}]" for number in unknown)
            notices.append(f"numbers that refer to no passage were removed from the answer: {numbers}")
        if self.sources and not any(f"[{source.id}]" in text for source in self.sources):
            notices.append("the answer cites none of the passages")
        if written.sources:
            pages = len(written.sources)
            notices.append(f"the model used {pages} other source{'s' * (pages != 1)} too; its numbers may mean those")
        return written._replace(
            content=text,
            sources=self.sources,
            response_id=response_id,
            notices=(*notices, *written.notices),
        )


class Writer:
    """Has a model write from the passages of a reader. The id of a run is `provider:id` of the model's provider."""

    def __init__(self, reader: Reader, choose: Choose, named: Named) -> None:
        self._reader = reader
        self._choose = choose
        self._named = named
        self._runs: dict[str, _Run] = {}

    @property
    def name(self) -> str:
        """The name of the reader, which is asked and decides what the answer is based on."""
        return self._reader.name

    @property
    def abilities(self) -> frozenset[Mode]:
        """The abilities of the reader."""
        return self._reader.abilities

    def serves(self, model: str) -> bool:
        """Tell whether the reader serves the model."""
        return self._reader.serves(model)

    def survey(self) -> Survey:
        """List the reader's files."""
        return self._reader.survey()

    async def ask(self, request: Request) -> AsyncGenerator[Event]:
        """Find passages, then have the model write; without a fitting passage the model is not asked.

        Raises:
            ConversationTooLongError: the conversation with one passage exceeds the model's window; nothing was sent.
            ProviderNotConfiguredError: the model cannot be asked; nothing was sent.
            WordsStayError: the model must not get the passages; nothing was sent.
            ProviderError: from the reader or the model's provider.
        """
        # The effort is meant for the model that writes; the reader would report it as not applied.
        effort = request.options.reasoning_effort
        without = request.options.model_copy(update={"reasoning_effort": None})
        found: Answer | None = None
        async with aclosing(self._reader.ask(request._replace(options=without))) as events:
            async for event in events:
                if isinstance(event, Finished):
                    found = event.answer
                elif not isinstance(event, TextDelta):
                    yield event
        if found is None:
            return
        if found.quotes is None:
            yield TextDelta(found.content)
            yield Finished(found._replace(notices=(NOT_ASKED, *found.notices)))
            return
        choice, messages, run = await self._prepared(request, found, found.quotes)
        # Before the call: the file must name the model's provider as a recipient before it has the words.
        yield PassedOn(choice.provider.name, choice.side)
        put = Request(
            "chat",
            messages,
            "",
            choice.model,
            Options(reasoning_effort=effort),
            output_limit_tokens=answer_limit(choice.facts, tokens_of(messages)),
        )
        async with aclosing(self._watched(choice.provider.name, choice.provider.ask(put), run)) as events:
            async for event in events:
                yield event

    async def fetch(self, response_id: str) -> Finished | StillRunning:
        """Look once at the run of the model that writes."""
        provider, own_id = await self._owner(response_id)
        return self._look(response_id, await provider.fetch(own_id))

    async def follow(self, response_id: str) -> AsyncGenerator[Event]:
        """Watch the run of the model that writes."""
        provider, own_id = await self._owner(response_id)
        run = self._run(response_id)
        async with aclosing(self._watched(provider.name, provider.follow(own_id), run)) as events:
            async for event in events:
                yield event

    async def cancel(self, response_id: str) -> Finished | StillRunning:
        """Stop the run of the model that writes."""
        provider, own_id = await self._owner(response_id)
        return self._look(response_id, await provider.cancel(own_id))

    async def _prepared(
        self, request: Request, found: Answer, quotes: Quotes
    ) -> tuple[Choice, tuple[ChatMessage, ...], _Run]:
        """Return the model, its messages with as many passages as fit, and the run to check its answer against."""
        total, messages = len(quotes.texts), request.messages

        def tokens(count: int) -> int:
            return tokens_of(framed(messages, found.sources[:count], quotes.texts[:count]))

        async def needed() -> int:
            return await to_thread.run_sync(tokens, 1)

        choice = await self._writer(needed, request.whereabouts)
        name, limit = choice.name or choice.provider.name, choice.facts.input_limit
        count = await to_thread.run_sync(_most, total, tokens, limit)
        if limit is not None and not count:
            raise ConversationTooLongError(name, await needed(), usable(limit), choice.facts.source)
        left_out = f"; {total - count} more did not fit into its window" if count < total else ""
        passages = f"{count} passage{'s' * (count != 1)} of your documents"
        notice = f"{name} wrote this answer from {passages}, sent to it with the conversation{left_out}"
        run = _Run(found.sources[:count], (notice, *quotes.remarks, *choice.notices, *found.notices))
        return choice, framed(messages, run.sources, quotes.texts[:count]), run

    async def _writer(self, needed: Callable[[], Awaitable[int]], whereabouts: Whereabouts) -> Choice:
        why = "it names no model"
        try:
            choice = await self._choose(needed, whereabouts)
        except (InvalidInputError, ModelUnavailableError, ProviderNotConfiguredError) as error:
            why = error.message.rstrip(".")
        else:
            if choice.model is not None:
                return choice
        raise ProviderNotConfiguredError(
            f"the model of {SETTING} cannot be asked: {why}. Nothing was sent. "
            "Set it to another model, or unset it to have passages quoted."
        )

    async def _watched(self, owner: str, events: AsyncGenerator[Event], run: _Run) -> AsyncGenerator[Event]:
        """Yield the events of the model's provider, with the ids of runs that are used here."""
        async with aclosing(events):
            async for event in events:
                match event:
                    case Started():
                        named = f"{owner}:{event.response_id}"
                        self._runs[named] = run
                        yield replace(event, response_id=named)
                    case Finished():
                        own_id = event.answer.response_id
                        yield self._finished(run, event, f"{owner}:{own_id}" if own_id else None)
                    case _:
                        yield event

    def _look(self, response_id: str, look: Finished | StillRunning) -> Finished | StillRunning:
        return self._finished(self._run(response_id), look, response_id) if isinstance(look, Finished) else look

    def _finished(self, run: _Run, event: Finished, response_id: str | None) -> Finished:
        self._runs.pop(response_id or "", None)
        return Finished(run.answer(event.answer, response_id))

    def _run(self, response_id: str) -> _Run:
        return self._runs.get(response_id) or _Run((), (FORGOTTEN,))

    async def _owner(self, response_id: str) -> tuple[Provider, str]:
        """Return the provider that has the run, and the run's id there."""
        owner, _, own_id = response_id.partition(":")
        if not own_id:
            raise RunLostError(self.name)
        provider = await self._named(owner)
        if provider is None:
            raise ProviderUnavailableError(f"{owner}, which writes the answer, is not configured here.")
        return provider, own_id


def _most(total: int, tokens: Callable[[int], int], limit: int | None) -> int:
    """Return how many of the passages fit into the limit."""
    if limit is None:
        return total
    return next((count for count in range(total, 0, -1) if tokens(count) <= usable(limit)), 0)
