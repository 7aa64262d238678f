"""The reader that turns the events of a message into the program's own; an unstreamed message is one event."""

from collections.abc import Iterator

from conversation_mcp.providers.base import Event, Progress, TextDelta
from conversation_mcp.providers.messages.blocks import Blocks
from conversation_mcp.providers.messages.citations import Citations
from conversation_mcp.providers.messages.usage import Spending
from conversation_mcp.providers.wire.bodies import KeptSize
from conversation_mcp.providers.wire.errors import ErrorMap
from conversation_mcp.providers.wire.json_values import (
    JsonObject,
    count_at,
    name_at,
    object_at,
    objects_at,
    raw_text_at,
    text_at,
)
from conversation_mcp.providers.wire.visible_text import VisibleText
from conversation_mcp.text import shorten, storable

MAX_PROGRESS_CHARS = 160
PAUSED = "pause_turn"


class MessageReader:
    """Reads the messages of one answer in order: one, or several if the answer is paused."""

    def __init__(self, errors: ErrorMap) -> None:
        self._errors = errors
        self._visible = VisibleText()
        self._kept = KeptSize()
        self._held = ""
        self._progress = ""
        self._blocks: list[Blocks] = []
        self._open: dict[int, None] = {}
        self._reasoning: list[str] = []
        self._text: list[str] = []
        self.spending = Spending()
        self.citations = Citations(self._kept)
        self.facts: dict[str, str] = {}
        """The id and the model of the answer."""
        self.stop_reason = ""
        self.stop_details: JsonObject = {}
        self.wants_tool = False
        self.ended = False
        """Whether the last event of the message has come."""

    def begin(self) -> None:
        """Begin the next message."""
        self.ended, self.stop_reason, self.stop_details = False, "", {}
        self.spending.begin()
        self._open.clear()
        self._blocks.append(Blocks(self._kept))

    @property
    def calls(self) -> int:
        """How many calls the answer took so far."""
        return len(self._blocks)

    @property
    def is_whole(self) -> bool:
        """Whether the message is complete: its end is known, whether or not the last event has come."""
        return self.ended or bool(self.stop_reason)

    @property
    def is_paused(self) -> bool:
        """Whether the answer goes on if what came of it is sent back."""
        return self.stop_reason == PAUSED

    @property
    def has_begun(self) -> bool:
        """Whether the question was accepted, which may be billed even if nothing follows."""
        return bool(self.facts) or self.calls > 1

    @property
    def text(self) -> str:
        """The text of the answer so far, with the numbers of its sources."""
        return storable("".join((*self._text, self._held)))

    @property
    def reasoning(self) -> str:
        """The thinking that was shown, apart from the answer."""
        return "\n\n".join(text for piece in self._reasoning if (text := storable(piece).strip()))

    def sendable(self) -> list[JsonObject]:
        """Return everything that came, in the form in which it is sent back."""
        return [block for blocks in self._blocks for block in blocks.sendable()]

    def take(self, frame: JsonObject) -> Iterator[Event]:
        """Yield the events of this frame; one of an unknown kind has none.

        Raises:
            ProviderError: the frame reports a failure.
        """
        kind = raw_text_at(frame, "type")
        index = count_at(frame, "index") or 0
        match kind:
            case "message_start":
                self._start(object_at(frame, "message"))
            case "content_block_start":
                yield from self._start_block(index, object_at(frame, "content_block"))
            case "content_block_delta":
                yield from self._add(index, object_at(frame, "delta"))
            case "content_block_stop":
                yield from self._stop_block(index)
            case "message_delta":
                self.spending.take(frame)
                self._end(object_at(frame, "delta"))
            case "message_stop":
                yield from self._stop_blocks()
                self.ended = True
            case "message":
                yield from self._whole(frame)
            case "" | "error":
                self._fail_on(frame)
            case _ if frame.get("error") or frame.get("object") == "error":  # of a gateway in front of the API
                self._fail_on(frame)
            case _:
                return

    def rest(self, *, is_cut: bool) -> Iterator[Event]:
        """Yield what was held back, at the end of the answer."""
        yield from self._stop_blocks()
        held, self._held = self._held, ""
        yield from self._say(held)
        yield from self._visible.rest(is_cut=is_cut)

    def _start(self, message: JsonObject) -> None:
        for name in ("id", "model"):
            if text := name_at(message, name):
                self.facts[name] = text
        self.spending.take(message)

    def _end(self, delta: JsonObject) -> None:
        self.stop_reason = raw_text_at(delta, "stop_reason") or self.stop_reason
        self.stop_details = object_at(delta, "stop_details") or self.stop_details

    def _whole(self, message: JsonObject) -> Iterator[Event]:
        self._start(message)
        for index, block in enumerate(objects_at(message, "content")):
            yield from self._start_block(index, block)
            yield from self._stop_block(index)
        self._end(message)
        self.ended = True

    def _start_block(self, index: int, block: JsonObject) -> Iterator[Event]:
        yield from self._stop_blocks()
        self._open[index] = None
        self._blocks[-1].start(index, block)
        match raw_text_at(block, "type"):
            case "text":
                yield from self._write(raw_text_at(block, "text"))
            case "thinking" | "redacted_thinking":
                yield from self._doing("thinking")
            case "server_tool_use":
                yield from self._doing("searching")
            case "tool_use":
                self.wants_tool = True
            case "web_search_tool_result":
                yield from self._doing("reading pages")
            case _:
                return

    def _add(self, index: int, delta: JsonObject) -> Iterator[Event]:
        self._open[index] = None
        self._blocks[-1].add(index, delta)
        if raw_text_at(delta, "type") == "text_delta":
            yield from self._write(raw_text_at(delta, "text"))

    def _stop_blocks(self) -> Iterator[Event]:
        """Stop the blocks whose own stop has not come, so that their thinking and sources count."""
        for index in tuple(self._open):
            yield from self._stop_block(index)

    def _stop_block(self, index: int) -> Iterator[Event]:
        if index not in self._open:
            return
        del self._open[index]
        block = self._blocks[-1].stop(index)
        if thought := raw_text_at(block, "thinking"):
            self._reasoning.append(self._kept.text(thought))
        if query := text_at(object_at(block, "input"), "query"):
            yield from self._doing(f"searching: {query}")
        yield from self._say(self.citations.take(block))

    def _write(self, piece: str) -> Iterator[Event]:
        """Yield a piece of text; white space at its end waits, because the number of a source comes before it."""
        if not piece:
            return
        yield from self._doing("writing the answer")
        whole = self._held + piece
        written = whole.rstrip()
        self._held = whole[len(written) :]
        yield from self._say(written)

    def _say(self, text: str) -> Iterator[TextDelta]:
        if text:
            self._text.append(self._kept.text(text))
            yield from self._visible.feed(text)

    def _doing(self, what: str) -> Iterator[Event]:
        if what != self._progress:
            self._progress = what
            yield Progress(shorten(storable(what), MAX_PROGRESS_CHARS))

    def _fail_on(self, frame: JsonObject) -> None:
        problem = self._errors.problem_in(frame)
        if problem is not None:
            raise self._errors.of_failure(problem) if self.has_begun else self._errors.of_body(problem)
