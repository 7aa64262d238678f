"""The sources of an answer, and the numbers that refer to them, which the wire tells as places in bytes."""

from collections.abc import Iterable, Sequence

from conversation_mcp.providers.wire.json_values import JsonObject, count_at, objects_at, raw_text_at, text_at
from conversation_mcp.providers.wire.sources import SourceCollector
from conversation_mcp.records.models import Source

CONTINUED = range(0x80, 0xC0)
"""Bytes within a character of UTF-8."""


def cited(parts: Sequence[JsonObject], pages: Iterable[JsonObject] = ()) -> tuple[str, tuple[Source, ...]]:
    """Return the whole text with `[n]` behind each passage that rests on a page, and the pages.

    A page is numbered where it is first referred to. One whose place makes no sense gets a number and no mark.
    """
    numbers: dict[str, int] = {}
    collector = SourceCollector()
    text = "".join(_marked(part, numbers, collector) for part in parts)
    for page in pages:
        _number(page, numbers, collector)
    return text, collector.sources()


def _marked(part: JsonObject, numbers: dict[str, int], collector: SourceCollector) -> str:
    data = text_at(part, "text").encode()
    notes = [note for note in objects_at(part, "annotations") if raw_text_at(note, "url")]
    placed = sorted(notes, key=lambda note: (_end(note, data) or len(data), count_at(note, "start_index") or 0))
    marks: dict[int, dict[int, None]] = {}
    for note in placed:
        number = _number(note, numbers, collector)
        if (end := _end(note, data)) is not None:
            marks.setdefault(end, {})[number] = None
    for end in sorted(marks, reverse=True):  # from behind, so that the places in front stay true
        data = data[:end] + "".join(f"[{number}]" for number in marks[end]).encode() + data[end:]
    return data.decode()


def _end(note: JsonObject, data: bytes) -> int | None:
    """Return the byte behind the passage; None if the passage is not one of the text."""
    start, end = count_at(note, "start_index") or 0, count_at(note, "end_index")
    if end is None or not 0 <= start < end <= len(data):
        return None
    return None if any(place < len(data) and data[place] in CONTINUED for place in (start, end)) else end


def _number(page: JsonObject, numbers: dict[str, int], collector: SourceCollector) -> int:
    url = text_at(page, "url")
    number = numbers.setdefault(url, len(numbers) + 1)
    collector.take({"citations": [{**page, "url": url, "id": number}]})
    return number
