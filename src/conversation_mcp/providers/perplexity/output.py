"""Reading a response object: its text, its sources and what it cost."""

import re
from collections.abc import Iterable, Iterator

from conversation_mcp.models import Source, Usage
from conversation_mcp.providers.wire.reading import (
    JsonObject,
    count_at,
    items_at,
    number_at,
    object_at,
    objects_at,
    raw_text_at,
    text_at,
)
from conversation_mcp.text import storable

RESPONSE_ID = re.compile(r"resp_[A-Za-z0-9_-]{1,100}")
RESULT_LISTS = {"fetch_url_results": "contents"}


def is_response_id(text: str) -> bool:
    """Tell whether this can be the id of a run; nothing else ever becomes part of an address."""
    return RESPONSE_ID.fullmatch(text) is not None


def answer_text(items: Iterable[JsonObject]) -> str:
    """Return the text of all messages among the output items."""
    return storable("\n\n".join(text for item in items if item.get("type") == "message" and (text := _message(item))))


def _message(item: JsonObject) -> str:
    parts = objects_at(item, "content")
    return raw_text_at(item, "content") or "".join(
        raw_text_at(part, "text") for part in parts if part.get("type") == "output_text"
    )


def refusal(items: Iterable[JsonObject]) -> str:
    """Return the reason the model gave for not answering; empty when it gave none."""
    parts = [part for item in items for part in objects_at(item, "content") if part.get("type") == "refusal"]
    return " ".join(text_at(part, "refusal") for part in parts)


def page_count(items: Iterable[JsonObject]) -> int:
    """Return how many pages the items list."""
    return sum(len(_results(item)) for item in items)


def reading(pages: int) -> str:
    """Return the phrase for reading this many pages."""
    return "reading pages" if not pages else f"reading {pages} {'page' if pages == 1 else 'pages'}"


def _results(item: JsonObject) -> list[JsonObject]:
    """Return the pages of an item; lists of people, shares and the like have pages only where they have addresses."""
    results = objects_at(item, RESULT_LISTS.get(str(item.get("type")), "results"))
    return [result for result in results if raw_text_at(result, "url")]


def sources(items: Iterable[JsonObject], response: JsonObject) -> tuple[Source, ...]:
    """Collect the pages that an answer rests on, wherever they stand.

    `[n]` in the text refers to an id that a result came with, never to a place in a list. What came without one
    gets a number after the highest, and is left out when its address is already there.
    """
    numbered: dict[int, Source] = {}
    others: list[JsonObject] = []
    for page in _pages(list(items), response):
        number = _id(page)
        if number is None:
            others.append(page)
        elif number not in numbered:
            numbered[number] = _source(number, page)
    known = {source.url for source in numbered.values()}
    number = max(numbered, default=0)
    for page in others:
        if (url := text_at(page, "url")) not in known:
            known.add(url)
            number = max(number + 1, 1)
            numbered[number] = _source(number, page)
    return tuple(numbered.values())


def _pages(items: list[JsonObject], response: JsonObject) -> Iterator[JsonObject]:
    for item in items:
        yield from _results(item)
    for item in items:
        for part in objects_at(item, "content"):
            yield from ({"url": text_at(note, "url"), "title": note.get("title")} for note in _citations(part))
    for citation in items_at(response, "citations"):
        if isinstance(citation, str):
            yield {"url": citation}
    yield from (page for page in objects_at(response, "citations") if raw_text_at(page, "url"))


def _citations(part: JsonObject) -> Iterator[JsonObject]:
    for note in objects_at(part, "annotations"):
        cited = object_at(note, "url_citation") or note
        if raw_text_at(cited, "url"):
            yield cited


def _id(page: JsonObject) -> int | None:
    value = page.get("id")
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= len(str(2**63)):
        return int(value)
    return count_at(page, "id")


def _source(number: int, page: JsonObject) -> Source:
    return Source.of(
        id=number, title=text_at(page, "title") or None, url=text_at(page, "url"), date=text_at(page, "date") or None
    )


def usage(response: JsonObject) -> Usage | None:
    """Return what the response took, as the provider counted it."""
    taken = object_at(response, "usage")
    found = Usage.of(
        input_tokens=count_at(taken, "input_tokens"),
        output_tokens=count_at(taken, "output_tokens"),
        reasoning_tokens=count_at(object_at(taken, "output_tokens_details"), "reasoning_tokens"),
        cost_usd=number_at(object_at(taken, "cost"), "total_cost"),
    )
    return found if found.model_fields_set else None
