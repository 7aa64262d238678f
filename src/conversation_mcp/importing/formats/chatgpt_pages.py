"""The pages that ChatGPT's references and tools name, and the names under which marks refer to them."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from conversation_mcp.importing.citations import Pages
from conversation_mcp.importing.messages import Data, list_of, name_of, object_of

GROUPED = ("items", "supporting_websites", "sources")
REF_PARTS = (("turn", "turn_index"), ("", "ref_type"), ("", "ref_index"))


def pages_of(reference: object, *, deep: bool = True) -> Pages:
    """Return the pages of a reference: its own, and those that it groups."""
    waiting: deque[Any] = deque([reference])
    pages: Pages = []
    while waiting:
        facts = object_of(waiting.popleft())
        if url := name_of(facts.get("url")):
            pages.append((url, name_of(facts.get("title"))))
        if facts is reference or deep:
            grouped: Iterable[Any] = (page for name in GROUPED for page in list_of(facts.get(name)))
            waiting += grouped
    return pages or [page for each in list_of(object_of(reference).get("fallback_items")) for page in pages_of(each)]


def own_pages(reference: Data) -> Pages:
    """Return the pages that a mark cites, without supporting ones."""
    return pages_of({**reference, "sources": None, "supporting_websites": None}, deep=False)


def pages_by_name(said: Data) -> Iterator[tuple[str, Pages]]:
    """Yield the pages of a message by the names that marks give them, such as `turn0search1`."""
    metadata = object_of(said.get("metadata"))
    waiting: deque[Any] = deque([said.get("content")])
    waiting += list_of(metadata.get("search_result_groups"))
    waiting += list_of(metadata.get("content_references"))
    while waiting:
        facts = object_of(waiting.popleft())
        for ref in (facts.get("ref_id"), *list_of(facts.get("refs"))):
            if (name := _name(ref)) and (pages := own_pages(facts)):
                yield name, pages
        waiting += [each for field in (*GROUPED, "entries") for each in list_of(facts.get(field))]


def _name(ref: object) -> str | None:
    parts = object_of(ref)
    return "".join(f"{before}{parts.get(part)}" for before, part in REF_PARTS) if parts else name_of(ref)
