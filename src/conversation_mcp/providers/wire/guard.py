"""The last step before an answer is seen: the key is removed, and numbers without a source are reported."""

import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from urllib.parse import quote

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.providers.base import (
    Answer,
    Event,
    Finished,
    PassedOn,
    Progress,
    Started,
    StillRunning,
    TextDelta,
)
from conversation_mcp.providers.wire.citations import citation_notices
from conversation_mcp.records.models import Source
from conversation_mcp.text import REDACTED

ECHOED = f"the provider wrote your key into its answer; it is replaced by {REDACTED} here"
# A shorter one may be a common word or number, which would be cut out of every answer.
SHORTEST_KEY = 12
SHORTEST_PIECE = 8
"""The least number of characters of a cut key that is no coincidence."""
NO_KEY = re.compile(r"(?:sk-)?(?:no|not|dummy|fake|any|local)[-_ ]?(?:key|needed|required|thing|api).*", re.IGNORECASE)
"""Placeholders for local servers that require some key; they are words, not secrets."""


class Guard:
    """Removes one provider's key from everything that the provider sends."""

    def __init__(self, secret: str) -> None:
        is_secret = len(secret) >= SHORTEST_KEY and not NO_KEY.fullmatch(secret)
        self._secret = secret if is_secret else ""
        self._spellings = tuple(dict.fromkeys((secret, quote(secret, safe="")))) if is_secret else ()

    def whole(self, text: str) -> str:
        """Return the text without the whole key."""
        for spelling in self._spellings:
            text = text.replace(spelling, REDACTED)
        return text

    def clean(self, text: str) -> str:
        """Return the text without the key, even if the text was cut within it."""
        text = self.whole(text)
        whole = text.removesuffix("…")
        size = self.begun(whole)
        return text if size < SHORTEST_PIECE else f"{whole[:-size]}{REDACTED}"

    def answer(self, answer: Answer) -> Answer:
        """Return the answer in a form that may be stored and shown."""
        notices = (*answer.notices, *citation_notices(answer.content, answer.sources))
        told = answer._replace(notices=notices)
        cleaned = told._replace(
            content=self.clean(told.content),
            sources=tuple(map(self._source, told.sources)),
            model=self._cleaned(told.model),
            preset=self._cleaned(told.preset),
            response_id=self._cleaned(told.response_id),
            reasoning=self._cleaned(told.reasoning),
            related_questions=tuple(map(self.clean, told.related_questions)),
            notices=tuple(map(self.clean, notices)),
        )
        return told if cleaned == told else cleaned._replace(notices=(*cleaned.notices, ECHOED))

    def look(self, look: Finished | StillRunning) -> Finished | StillRunning:
        """Return the state of a run in a form that may be stored and shown."""
        if isinstance(look, Finished):
            return Finished(self.answer(look.answer))
        return StillRunning(self.clean(look.progress), self.clean(look.partial_text))

    def error(self, error: ConversationMCPError) -> ConversationMCPError:
        """Remove the key from the error."""
        error.message, error.advice = self.clean(error.message), self.clean(error.advice)
        return error

    async def events(self, events: AsyncGenerator[Event]) -> AsyncGenerator[Event]:
        """Yield the events in a form that may be stored and shown; text that may be the start of the key waits."""
        stream = _Stream(self)
        try:
            async with aclosing(events):
                async for event in events:
                    for told in stream.take(event):
                        yield told
        except ConversationMCPError as error:
            for told in stream.rest():
                yield told
            raise self.error(error) from error.__cause__

    def begun(self, text: str) -> int:
        """Return how many characters at the end of the text may be the start of the key."""
        if text[-1:] not in self._secret:
            return 0
        sizes = range(min(len(self._secret) - 1, len(text)), 0, -1)  # the longest first: a key may repeat its beginning
        return next((size for size in sizes if text.endswith(self._secret[:size])), 0)

    def _cleaned(self, text: str | None) -> str | None:
        return None if text is None else self.clean(text)

    def _source(self, source: Source) -> Source:
        texts = {name: value for name, value in source if isinstance(value, str)}
        changed = {name: clean for name, value in texts.items() if (clean := self.clean(value)) != value}
        return source.model_copy(update=changed) if changed else source


class _Stream:
    """Holds back the end of a text while it may be the start of the key."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._held = ""

    def take(self, event: Event) -> Iterator[Event]:
        """Yield the event without the key."""
        match event:
            case TextDelta():
                yield from self._text(event)
            case Finished():
                yield from self.rest()
                yield Finished(self._guard.answer(event.answer))
            case Progress():
                yield Progress(self._guard.clean(event.text))
            case Started():
                if self._guard.clean(event.response_id) == event.response_id:  # a redacted id would find no run
                    yield event
            case PassedOn():
                yield event

    def rest(self) -> Iterator[Event]:
        """Yield what was held back, at the end of the text."""
        held, self._held = self._guard.clean(self._held), ""
        if held:
            yield TextDelta(held)

    def _text(self, event: TextDelta) -> Iterator[Event]:
        text = self._guard.whole(event.text if event.replaces else self._held + event.text)
        size = len(text) - self._guard.begun(text)
        self._held = text[size:]
        if size or event.replaces:
            yield TextDelta(text[:size], replaces=event.replaces)
