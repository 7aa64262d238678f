"""The reader that turns the typed events of a streamed run into the program's own."""

from collections.abc import Iterator

from conversation_mcp.providers.base import Event, Finished, Progress, Started
from conversation_mcp.providers.responses.outcome import ENDED, settle
from conversation_mcp.providers.responses.output import queries, reading
from conversation_mcp.providers.wire.bodies import KeptSize
from conversation_mcp.providers.wire.inquiry import Inquiry
from conversation_mcp.providers.wire.json_values import (
    JsonObject,
    count_at,
    items_at,
    object_at,
    objects_at,
    raw_text_at,
)
from conversation_mcp.providers.wire.runs import is_response_id, other_run
from conversation_mcp.providers.wire.usage import usage
from conversation_mcp.providers.wire.visible_text import VisibleText
from conversation_mcp.records.usage import Usage
from conversation_mcp.text import shorten, storable

MAX_PROGRESS_CHARS = 160


class StreamReader:
    """Reads the events of one run in order and keeps what its answer needs."""

    def __init__(self, inquiry: Inquiry) -> None:
        self._inquiry = inquiry
        self._visible = VisibleText()
        self._response_id = ""
        self._last_progress = ""
        self._pieces: dict[tuple[object, int], list[str]] = {}
        self._items: list[JsonObject] = []
        self._kept = KeptSize()
        self._response: JsonObject = {}
        self.ended = False

    def take(self, event: JsonObject) -> Iterator[Event]:
        """Yield the program's events for this one; after the one that ends the run, `ended` is true.

        Raises:
            ProviderError: the run ended without an answer.
        """
        kind = raw_text_at(event, "type")
        if event.get("object") == "response":
            yield from self._whole(event)
        elif response := object_at(event, "response"):
            self._response = response
            yield from self._start(response)
        match kind.removeprefix("response."):
            case "output_text.delta":
                yield from self._progress("writing the answer")
                piece = raw_text_at(event, "delta")
                self._pieces.setdefault(_place(event), []).append(self._kept.text(piece))
                yield from self._visible.feed(piece)
            case "output_text.done":
                if text := raw_text_at(event, "text"):
                    self._pieces[_place(event)] = [self._kept.text(text)]
            case "output_item.done":
                item = object_at(event, "item")
                self._keep(item)
                if searched := queries(item):
                    yield from self._progress(_searching(searched))
            case state if state in ENDED:
                self.ended = True
                yield from self._visible.rest(is_cut=state != "completed")
                # The name of the event decides: the object beside it may lack a status.
                yield self._finish({**self._response, "status": state}, event)
            case other:
                yield from self._doing(other, event)

    @property
    def usage(self) -> Usage | None:
        """The usage of the run, as far as reported."""
        return usage(self._response)

    @property
    def has_begun(self) -> bool:
        """Whether the model or its search did something, which is billed even if nothing follows."""
        return bool(self._pieces or self._items or self._last_progress)

    def broken_off(self) -> Iterator[Event]:
        """Yield what was held back of a text that broke off."""
        yield from self._visible.rest(is_cut=True)

    def _whole(self, response: JsonObject) -> Iterator[Event]:
        """Read an answer that came in one piece, from a server that does not stream."""
        self._response = response
        yield from self._start(response)
        if (raw_text_at(response, "status") or "completed") in ENDED:
            self.ended = True
            yield Finished(settle(response, self._inquiry))

    def _start(self, response: JsonObject) -> Iterator[Event]:
        response_id = raw_text_at(response, "id")
        if self._response_id or not is_response_id(response_id):
            return
        self._response_id = response_id
        if self._inquiry.is_kept:  # the id of any other run leads nowhere
            yield Started(response_id)

    def _doing(self, kind: str, event: JsonObject) -> Iterator[Event]:
        match kind:
            case "reasoning.started" | "reasoning_text.delta" | "reasoning_summary_text.delta":
                yield from self._progress("thinking")
            case "web_search_call.searching":
                yield from self._progress("searching")
            case "reasoning.search_queries":
                yield from self._progress(
                    _searching([query for query in items_at(event, "queries") if isinstance(query, str)])
                )
            case "reasoning.search_results":
                self._keep({"type": "search_results", "results": event.get("results")})
                yield from self._progress(reading(len(objects_at(event, "results"))))
            case "reasoning.fetch_url_queries":
                yield from self._progress(reading(len(items_at(event, "urls"))))
            case "reasoning.fetch_url_results":
                yield from self._progress(reading(len(items_at(event, "contents"))))
            case _:
                return

    def _keep(self, item: JsonObject) -> None:
        self._kept.data(item)
        self._items.append(item)

    def _progress(self, text: str) -> Iterator[Event]:
        if text != self._last_progress:
            self._last_progress = text
            yield Progress(shorten(storable(text), MAX_PROGRESS_CHARS))

    def _finish(self, response: JsonObject, event: JsonObject) -> Finished:
        if not object_at(response, "error"):  # some servers put it beside the response
            response = {**response, "error": event.get("error")}
        inquiry = self._inquiry.noting(other_run(response, self._response_id)) if self._response_id else self._inquiry
        answer = settle(response, inquiry, streamed_text=self._text(), seen=self._items)
        return Finished(answer._replace(response_id=self._response_id or answer.response_id))

    def _text(self) -> str:
        messages: dict[object, str] = {}
        for (message, _), pieces in self._pieces.items():
            messages[message] = messages.get(message, "") + "".join(pieces)
        return storable("\n\n".join(messages.values()))


def _place(event: JsonObject) -> tuple[object, int]:
    # Some servers number nothing and name only the item, as llama.cpp does.
    message = raw_text_at(event, "item_id") or count_at(event, "output_index") or 0
    return message, count_at(event, "content_index") or 0


def _searching(searched: list[str]) -> str:
    return "searching: " + " | ".join(searched) if searched else "searching"
