"""The reader that turns the frames of a chat completion into events; an unstreamed completion is one frame."""

from collections.abc import Iterator
from functools import partial

from conversation_mcp.errors import (
    AnswerIncompleteError,
    ProviderError,
    ProviderUnavailableError,
    StreamBrokenError,
)
from conversation_mcp.providers.base import Answer, Event, Finished, Progress
from conversation_mcp.providers.chat_completions.extras import Extras
from conversation_mcp.providers.chat_completions.pieces import calls_tools, reasoning_in, refusal_in, text_in
from conversation_mcp.providers.wire.bodies import KeptSize
from conversation_mcp.providers.wire.errors import ErrorMap
from conversation_mcp.providers.wire.events import END
from conversation_mcp.providers.wire.json_values import JsonObject, name_at, object_at, objects_at, raw_text_at
from conversation_mcp.providers.wire.problems import short_cause
from conversation_mcp.providers.wire.sources import SourceCollector
from conversation_mcp.providers.wire.usage import billed, cut_notice, usage, with_usage
from conversation_mcp.providers.wire.visible_text import VisibleText, spoken
from conversation_mcp.records.usage import Usage
from conversation_mcp.text import storable

CUT = frozenset({"length", "max_tokens", "model_length"})
WITHHELD = "content_filter"
UNCALLED = "The model also wanted to call a tool; that was not done."


class CompletionReader:
    """Reads the frames of one completion in order and keeps what its answer needs."""

    def __init__(self, title: str, model: str, errors: ErrorMap, notices: tuple[str, ...] = ()) -> None:
        self._title = title
        self._asked_model = model
        self._errors = errors
        self._notices = notices
        self._visible = VisibleText()
        self._progress = ""
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._kept = KeptSize()
        self._sources = SourceCollector(self._kept)
        self._extras = Extras(self._kept)
        self._wants_tool = False
        self._finish = ""
        self._facts: dict[str, str] = {}
        self.usage: Usage | None = None
        """The usage of the completion, as far as reported."""
        self.ended = False
        """Whether the end mark has come."""

    @property
    def is_whole(self) -> bool:
        """Whether the answer is complete: its last piece has come, with or without an end mark."""
        return self.ended or bool(self._finish)

    @property
    def _has_begun(self) -> bool:
        """Whether the model or its search did something, which is billed even if nothing follows."""
        return bool(self._text or self._reasoning or any(self._refusal) or self._wants_tool or self._sources.sources())

    def take(self, frame: JsonObject) -> Iterator[Event]:
        """Yield the events of this frame.

        Raises:
            ProviderError: the frame reports a failure.
        """
        if frame is END:
            self.ended = True
            return
        self.usage = usage(frame) or self.usage
        for name in ("id", "model"):
            if text := name_at(frame, name):
                self._facts[name] = text
        self._sources.take(frame)
        # The frame with the usage has an empty list of choices.
        choices = objects_at(frame, "choices")
        if choices:
            yield from self._take_choice(choices[0])
        # Last, because a frame may hold both text and an error, and the text is kept as part of a broken answer.
        self._fail_on(frame, choices)

    def _take_choice(self, choice: JsonObject) -> Iterator[Event]:
        delta, message = object_at(choice, "delta"), object_at(choice, "message")
        source = delta or message
        # A whole message behind the deltas repeats their text.
        piece = text_in(delta) or ("" if self._text else text_in(message))
        self._sources.take(delta, message)
        self._extras.take(source)
        self._wants_tool = self._wants_tool or calls_tools(source)
        if refused := refusal_in(source):
            self._refusal.append(self._kept.text(refused))
        if thought := reasoning_in(source):
            self._reasoning.append(self._kept.text(thought))
            yield from self._doing("thinking")
        if piece:
            self._text.append(self._kept.text(piece))
            yield from self._doing("writing the answer")
            yield from self._visible.feed(piece)
        came_whole = "stop" if message and not delta else ""
        self._finish = (raw_text_at(choice, "finish_reason") or self._finish or came_whole).lower()

    def _fail_on(self, frame: JsonObject, choices: list[JsonObject]) -> None:
        beside = (each for each in (*choices, *map(partial(object_at, frame), frame)) if each.get("error"))
        problem = next(filter(None, map(self._errors.problem_in, (frame, *beside))), None)
        if problem is not None:
            raise self._errors.of_failure(problem) if self._has_begun else self._errors.of_body(problem)
        if self._finish == "error":
            raise ProviderUnavailableError(f"{self._title} could not finish the answer.", maybe_billed=True)

    def _doing(self, what: str) -> Iterator[Event]:
        if what != self._progress:
            self._progress = what
            yield Progress(what)

    def finish(self) -> Iterator[Event]:
        """Yield the rest of the text and the answer, at the end of the stream.

        Raises:
            StreamBrokenError: the stream ended early.
            AnswerIncompleteError: the answer has no text.
        """
        if not self.is_whole:
            raise StreamBrokenError(f"{self._title} broke off before the answer was complete.")
        is_cut = self._finish in CUT or self._finish == WITHHELD
        yield from self._visible.rest(is_cut=is_cut)
        text, thoughts, remarks = spoken(storable("".join(self._text)), is_cut=is_cut)
        if not text.strip():
            raise self._without_text()
        self._sources.take(self._extras.pages())
        reasoning = "\n\n".join(filter(None, [storable("".join(self._reasoning)).strip(), thoughts]))
        reason = WITHHELD if self._finish == WITHHELD else ""
        yield Finished(
            Answer(
                content=text,
                finish_reason="length" if is_cut else "stop",
                sources=self._sources.sources(),
                usage=self.usage,
                model=self._facts.get("model", self._asked_model),
                response_id=self._facts.get("id"),
                reasoning=reasoning or None,
                notices=(
                    *self._notices,
                    *remarks,
                    *self._extras.notices(),
                    *([cut_notice(reason, self.usage)] if is_cut else []),
                    *([UNCALLED] if self._wants_tool else []),
                ),
            )
        )

    def _without_text(self) -> ProviderError:
        paid = billed(self.usage)
        if why := short_cause({"message": "".join(self._refusal)}, self._errors.secret):
            return AnswerIncompleteError(f"{self._title} refused to answer: {why}{paid}.")
        if self._finish == WITHHELD:
            return AnswerIncompleteError(f"the content filter of {self._title} withheld the answer{paid}.")
        if self._finish in CUT:
            return AnswerIncompleteError(f"{self._title} reached its token limit before it wrote any text{paid}.")
        if self._wants_tool:
            return AnswerIncompleteError(f"{self._title} wanted to call a tool and wrote no text{paid}.")
        return AnswerIncompleteError(f"{self._title} answered without any text{paid}.")

    def broken_off(self) -> Iterator[Event]:
        """Yield what was held back of a text that broke off."""
        yield from self._visible.rest(is_cut=True)

    def failed(self, error: ProviderError) -> ProviderError:
        """Return the error with the usage of the completion."""
        return with_usage(error, self.usage)
