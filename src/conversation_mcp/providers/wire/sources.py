"""The sources of an answer, wherever a provider puts them."""

from collections.abc import Iterator

from conversation_mcp.providers.wire.bodies import KeptSize
from conversation_mcp.providers.wire.json_values import (
    JsonObject,
    count_at,
    items_at,
    object_at,
    objects_at,
    raw_text_at,
    text_at,
)
from conversation_mcp.records.models import Source
from conversation_mcp.text import cut

SNIPPETS = ("snippet", "content", "cited_text")
MAX_SNIPPET_CHARS = 1000
RESULT_LISTS = {"fetch_url_results": "contents"}
"""The field with the pages of an output item, if it is not `results`."""


class SourceCollector:
    """Collects pages from objects of any kind and numbers them.

    `[n]` in the text refers to the id of a page, never to its place in a list. Pages without an id are numbered after
    the highest one; pages with the same address are combined.
    """

    def __init__(self, kept: KeptSize | None = None) -> None:
        self._kept = kept
        self._found: list[JsonObject] = []
        self._cited: list[JsonObject] = []

    def take(self, *objects: JsonObject) -> None:
        """Add the pages of output items, messages, deltas or whole responses; other objects are ignored."""
        for each in objects:
            found, cited = results(each), list(_citations(each))
            for part in (each, *objects_at(each, "content")):
                cited += _annotations(part)
            if self._kept and (found or cited):
                self._kept.data([found, cited])
            self._found += found
            self._cited += cited

    def sources(self) -> tuple[Source, ...]:
        """Return the collected sources with their numbers."""
        numbered: dict[int, Source] = {}
        others: dict[str, Source] = {}
        for page in self._found + self._cited:
            # Ids go on over the lists of one answer, with gaps, so a place in a list says nothing.
            number = _id(page)
            if number is None:
                others[text_at(page, "url")] = _source(0, page, others.get(text_at(page, "url")))
            elif number not in numbered:
                numbered[number] = _source(number, page)
            elif numbered[number].url == text_at(page, "url"):
                numbered[number] = _source(number, page, numbered[number])
        for number, source in numbered.items():
            if source.url in others:
                numbered[number] = _with_snippet(source, others[source.url])
        known = {source.url for source in numbered.values()}
        first = max(0, max(numbered, default=0)) + 1
        new = [source for url, source in others.items() if url not in known]
        return (*numbered.values(), *(page.model_copy(update={"id": first + place}) for place, page in enumerate(new)))


def results(item: JsonObject) -> list[JsonObject]:
    """Return the pages of an item; entries without an address (people, shares and the like) are left out."""
    pages = objects_at(item, RESULT_LISTS.get(str(item.get("type")), "results"))
    pages += objects_at(item, "search_results") + objects_at(object_at(item, "action"), "sources")
    return [page for page in pages if raw_text_at(page, "url")]


def _annotations(part: JsonObject) -> Iterator[JsonObject]:
    for note in objects_at(part, "annotations"):
        cited = object_at(note, "url_citation") or note
        if raw_text_at(cited, "url"):
            title = text_at(cited, "title")
            # One provider puts the number from the text in place of the title.
            quoted = {name: cited.get(name) for name in SNIPPETS}
            yield {"url": text_at(cited, "url"), ("id" if _is_number(title) else "title"): title, **quoted}


def _citations(response: JsonObject) -> Iterator[JsonObject]:
    for citation in items_at(response, "citations"):
        if isinstance(citation, str):
            yield {"url": citation}
    yield from (page for page in objects_at(response, "citations") if raw_text_at(page, "url"))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= len(str(2**63))


def _id(page: JsonObject) -> int | None:
    value = page.get("id")
    return int(value) if isinstance(value, str) and _is_number(value) else count_at(page, "id")


def _source(number: int, page: JsonObject, known: Source | None = None) -> Source:
    return Source.of(
        id=number,
        title=(known.title if known else None) or text_at(page, "title") or None,
        url=text_at(page, "url"),
        date=(known.date if known else None) or text_at(page, "date") or None,
        snippet=(known.snippet if known else None) or _snippet(page),
    )


def _snippet(page: JsonObject) -> str | None:
    told = next((text for name in SNIPPETS if (text := text_at(page, name).strip())), "")
    return cut(told, MAX_SNIPPET_CHARS).rstrip() or None


def _with_snippet(source: Source, other: Source) -> Source:
    return source if source.snippet or not other.snippet else source.model_copy(update={"snippet": other.snippet})
