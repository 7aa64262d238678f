"""The reader that turns the events of a streamed interaction into the program's own."""

from collections.abc import Iterator

from conversation_mcp.errors import StreamBrokenError
from conversation_mcp.providers.base import Event, Finished, Progress, Started, TextDelta
from conversation_mcp.providers.interactions.growing import GrowingSteps
from conversation_mcp.providers.interactions.outcome import ENDED, settle
from conversation_mcp.providers.interactions.runs import MAX_PROGRESS_CHARS
from conversation_mcp.providers.interactions.steps import OUTPUT, THOUGHT, answer_text, doing
from conversation_mcp.providers.interactions.usage import usage
from conversation_mcp.providers.wire.errors import ErrorMap
from conversation_mcp.providers.wire.events import END
from conversation_mcp.providers.wire.inquiry import Inquiry
from conversation_mcp.providers.wire.json_values import JsonObject, object_at, objects_at, raw_text_at
from conversation_mcp.providers.wire.problems import WireProblem
from conversation_mcp.providers.wire.runs import is_response_id, other_run
from conversation_mcp.providers.wire.visible_text import VisibleText
from conversation_mcp.records.usage import Usage
from conversation_mcp.text import shorten, storable


class StepReader:
    """Reads the events of one interaction in order and keeps what its answer needs."""

    def __init__(self, inquiry: Inquiry, errors: ErrorMap) -> None:
        self._inquiry = inquiry
        self._errors = errors
        self._visible = VisibleText()
        self._has_shown = False
        self._response_id = ""
        self._progress = ""
        self._steps = GrowingSteps()
        self._run: dict[str, object] = {}
        self.ended = False
        """Whether the answer has been yielded."""

    @property
    def usage(self) -> Usage | None:
        """The usage of the run, as far as reported."""
        return usage(self._run)

    def take(self, event: JsonObject) -> Iterator[Event]:
        """Yield the program's events for this one.

        Raises:
            ProviderError: the run failed, or ended without an answer.
        """
        kind = raw_text_at(event, "event_type")
        if event is END:
            return
        if kind == "error" or not (kind or object_at(event, "interaction") or _is_whole(event)):
            self._fail(event)
        if _is_whole(event):
            yield from self._note(event)
            yield from self._end("completed")
        elif kind == "step.start":
            yield from self._step(self._steps.start(event))
            yield from self._shown(answer_text(self._steps.last()))
        elif kind == "step.delta":
            delta = object_at(event, "delta")
            yield from self._step(self._steps.add(event))
            if raw_text_at(delta, "type") == "text":
                yield from self._shown(raw_text_at(delta, "text"))
        else:
            yield from self._note(object_at(event, "interaction") or event)
            if kind == "interaction.completed":
                yield from self._end("completed")

    def finish(self) -> Iterator[Event]:
        """Yield the answer at the end of a stream that told the run's end by its status alone.

        Raises:
            StreamBrokenError: the run had not ended.
        """
        if raw_text_at(self._run, "status") not in ENDED:
            raise StreamBrokenError(f"{self._inquiry.title} broke off before the answer was complete.")
        yield from self._end("")

    def broken_off(self) -> Iterator[Event]:
        """Yield what was held back of a text that broke off."""
        yield from self._visible.rest(is_cut=True)

    def _fail(self, event: JsonObject) -> None:
        """Raise the error for a problem in place of an event; anything else that is unknown is ignored."""
        problem = self._errors.problem_in(event)
        if problem is None and raw_text_at(event, "event_type") != "error":
            return
        known = problem or WireProblem(200)
        raise self._errors.of_failure(known) if self._steps else self._errors.of_body(known)

    def _note(self, told: JsonObject) -> Iterator[Event]:
        """Keep the facts of the run; the last value of each counts."""
        if not object_at(told, "usage"):
            told = {name: value for name, value in told.items() if name != "usage"}
        self._run.update(told)
        response_id = raw_text_at(told, "id")
        if not self._response_id and is_response_id(response_id):
            self._response_id = response_id
            if self._inquiry.is_kept:  # the id of any other run leads nowhere
                yield Started(response_id)

    def _step(self, kind: str) -> Iterator[Event]:
        if kind not in {OUTPUT, THOUGHT} and self._has_shown:
            # What was said before a search is not part of the answer.
            # A new reader, because hidden reasoning is known as such only at the very beginning of a text.
            self._visible, self._has_shown = VisibleText(), False
            yield TextDelta("", replaces=True)
        progress = shorten(storable(doing(self._steps.last())), MAX_PROGRESS_CHARS)
        if progress != self._progress:
            self._progress = progress
            yield Progress(progress)

    def _shown(self, text: str) -> Iterator[Event]:
        if text:
            self._has_shown = True
            yield from self._visible.feed(text)

    def _end(self, status: str) -> Iterator[Event]:
        self.ended = True
        told = raw_text_at(self._run, "status")
        run = {**self._run, "status": told if told in ENDED else status}
        yield from self._visible.rest(is_cut=run["status"] != "completed")
        inquiry = self._inquiry.noting(other_run(run, self._response_id)) if self._response_id else self._inquiry
        answer = settle(run, inquiry, seen=self._steps.whole())
        yield Finished(answer._replace(response_id=self._response_id or answer.response_id))


def _is_whole(event: JsonObject) -> bool:
    """Tell whether this is a whole interaction, from a server that does not stream."""
    return not raw_text_at(event, "event_type") and bool(objects_at(event, "steps") or raw_text_at(event, "status"))
