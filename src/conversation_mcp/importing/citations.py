"""ChatGPT's marks of sources, of three generations, as `[n]` and numbered sources."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from conversation_mcp.importing.base import LeftOut
from conversation_mcp.importing.messages import Data, list_of, name_of, object_of, text_of
from conversation_mcp.models import Source

PRIVATE_MARK = re.compile("\ue200([^\ue200\ue201]*)\ue201")
BRACKET_MARK = re.compile(r"【[^【】\n]{0,200}】")
BRACKET_NUMBER = re.compile(r"【([0-9]{1,6})†")
CITE = "cite\ue202"

Pages = list[tuple[str, str | None]]


class _Numbers:
    """Gives each address a number, the first time that it is named."""

    def __init__(self) -> None:
        self.sources: dict[str, Source] = {}

    def marks(self, pages: Pages) -> str:
        for url, title in pages:
            if url not in self.sources:
                self.sources[url] = Source.of(id=len(self.sources) + 1, title=title, url=url)
        return "".join(f"[{self.sources[url].id}]" for url, _ in dict(pages).items())


def cited(
    text: str,
    metadata: Data,
    tool_pages: Sequence[Any],
    left_out: Counter[LeftOut],
) -> tuple[str, tuple[Source, ...]]:
    """Return the text with our marks, and the sources; a mark whose source is not told is removed and counted.

    Args:
        text: the text with marks.
        metadata: that of the message.
        tool_pages: what the last tool had found, which the second generation of marks refers to.
        left_out: where removed marks are counted.
    """
    numbers = _Numbers()
    references = [_pages(reference) for reference in list_of(metadata.get("content_references"))]
    by_text = {
        text_of(object_of(reference).get("matched_text")): pages
        for reference, pages in zip(list_of(metadata.get("content_references")), references, strict=True)
    }
    in_turn = iter([pages for pages in references if pages])
    nothing: Pages = []

    def private(found: re.Match[str]) -> Pages:
        if not found[1].startswith(CITE):
            return []
        return by_text.get(found[0]) or next(in_turn, nothing)

    ordered = sorted(map(object_of, list_of(metadata.get("citations"))), key=_start)
    older = iter([_pages(citation.get("metadata")) for citation in ordered])

    def bracket(found: re.Match[str]) -> Pages:
        if ordered:
            return next(older, nothing)
        number = BRACKET_NUMBER.match(found[0])
        place = int(number[1]) if number else len(tool_pages)
        return _pages(tool_pages[place]) if place < len(tool_pages) else []

    text = _replaced(PRIVATE_MARK, text, private, numbers, left_out)
    text = _replaced(BRACKET_MARK, text, bracket, numbers, left_out) if ordered or "†" in text else text
    for pages in (*references, *(_pages(citation.get("metadata")) for citation in ordered)):
        numbers.marks(pages)  # what stands in the list without a mark is a source all the same
    return text, tuple(numbers.sources.values())


def _replaced(
    mark: re.Pattern[str],
    text: str,
    pages_of: Callable[[re.Match[str]], Pages],
    numbers: _Numbers,
    left_out: Counter[LeftOut],
) -> str:
    def replace(found: re.Match[str]) -> str:
        if marks := numbers.marks(pages_of(found)):
            return marks
        left_out["citation marks"] += 1
        return ""

    return mark.sub(replace, text)


def _pages(reference: object) -> Pages:
    """Return the pages of one reference: its own, or those that it groups."""
    facts = object_of(reference)
    own: Iterable[Any] = (facts, *list_of(facts.get("items")))
    return [
        (url, name_of(object_of(page).get("title")))
        for page in own
        if (url := name_of(object_of(page).get("url"))) is not None
    ]


def _start(citation: Data) -> float:
    start = citation.get("start_ix")
    return start if isinstance(start, int | float) else 0
