"""ChatGPT's citation marks, of three generations, as `[n]` with numbered sources; other marks as their words."""

import json
import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import Any

from conversation_mcp.importing.base import LeftOut
from conversation_mcp.importing.messages import Data, count_named, list_of, name_of, object_of, text_of
from conversation_mcp.records.models import Source

PRIVATE_MARK = re.compile("\ue200([^\ue200\ue201]*)\ue201")
SEPARATOR, CLOSING = "\ue202", "\ue201"
CUT_MARK = re.compile("\ue200([a-z_]{1,40})\ue202(?:(?:turn[0-9]+[a-z_]*[0-9]*|L[0-9-]+)[,\ue202]*)*")
"""The beginning of a mark without an end, which may be followed by ordinary text."""
LEFT_SIGNS = re.compile("[\ue200-\ue206]")
MAX_NESTED = 4
BRACKET_MARK = re.compile(r"【[^【】\n]{0,200}】")
BRACKET_NUMBER = re.compile(r"【([0-9]{1,6})†")
REFERENCE = re.compile(r"(?:(?:turn[0-9]+[a-z_]+[0-9]+|L[0-9]+(?:-L?[0-9]+)?)[,\s]*)+")
"""References to pages and files within a mark, as opposed to words."""
REFERENCE_FIELDS = ("matched_text", "type", "prompt_text", "refs")
WEB = ("https://", "http://")
GROUPED = ("items", "supporting_websites", "sources")

Pages = list[tuple[str, str | None]]


class Numbers:
    """Numbers addresses in the order in which they are first cited."""

    def __init__(self) -> None:
        self.sources: dict[str, Source] = {}

    def marks(self, pages: Pages) -> str:
        """Return the marks of the pages as they appear in a text."""
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
    """Return the text with our marks, and the sources. A mark with neither source nor words is removed and counted.

    Args:
        text: the text with marks.
        metadata: the metadata of the message.
        tool_pages: the pages that the last tool found, to which the second generation of marks refers.
        left_out: the counter of removed marks.
    """
    numbers = Numbers()
    references = [object_of(reference) for reference in list_of(metadata.get("content_references"))]
    by_text = {mark: reference for reference in references if (mark := text_of(reference.get("matched_text")))}
    in_turn = iter([pages for each in references if not each.get("matched_text") and (pages := _pages(each))])
    ordered = sorted(map(object_of, list_of(metadata.get("citations"))), key=_start)
    older = iter([_pages(citation.get("metadata")) for citation in ordered])
    nothing: Pages = []

    def private(found: re.Match[str]) -> str:
        kind, *payload = found[1].split(SEPARATOR)
        reference = by_text.get(found[0], {})
        if kind != "cite":
            words = _told(reference) or _words(payload)
            if not words:
                count_named(f"mark {kind.split('{')[0]}", {"text": kind}, left_out)
            return words
        pages = _own_pages(reference) if reference else next(in_turn, nothing)
        return numbers.marks(pages) or _told(reference) or _removed(left_out)

    def bracket(found: re.Match[str]) -> str:
        if ordered:
            return numbers.marks(next(older, nothing)) or _removed(left_out)
        number = BRACKET_NUMBER.match(found[0])
        place = int(number[1]) if number else len(tool_pages)
        return numbers.marks(_pages(tool_pages[place]) if place < len(tool_pages) else []) or _removed(left_out)

    def cut(found: re.Match[str]) -> str:
        count_named("citation marks" if found[1] == "cite" else f"mark {found[1]}", {"text": found[0]}, left_out)
        return ""

    ends_with_mark = text.rstrip().endswith(CLOSING)
    _count_unused(references, text, left_out)
    for _ in range(MAX_NESTED):
        text = PRIVATE_MARK.sub(private, text)
    text = LEFT_SIGNS.sub("", CUT_MARK.sub(cut, text))
    text = text.rstrip() if ends_with_mark else text
    # Chinese and Japanese texts have such brackets of their own, but without a dagger.
    text = BRACKET_MARK.sub(bracket, text) if ordered or "†" in text else text
    for pages in (*map(_pages, references), *(_pages(citation.get("metadata")) for citation in ordered)):
        numbers.marks(pages)  # a page that is listed but not cited is a source too
    return text, tuple(numbers.sources.values())


def _count_unused(references: Iterable[Data], text: str, left_out: Counter[LeftOut]) -> None:
    """Count the references that name no page and belong to no mark in the text."""
    for reference in references:
        mark = text_of(reference.get("matched_text"))
        if not _pages(reference) and not (mark and mark in text):
            count_named(name_of(reference.get("type")) or "content_references", reference, left_out, REFERENCE_FIELDS)


def _removed(left_out: Counter[LeftOut]) -> str:
    left_out["citation marks"] += 1
    return ""


def _told(reference: Data) -> str:
    """Return the words that the reference of a mark gives to show in its place."""
    words = text_of(reference.get("alt")) or text_of(reference.get("name"))
    return "" if PRIVATE_MARK.search(words) else words


def _words(payload: Sequence[str]) -> str:
    """Return the words of a mark without a reference: a link, the name of a thing, or its first words."""
    texts = [part for part in map(str.strip, payload) if part and not REFERENCE.fullmatch(part)]
    if not texts:
        return ""
    first, *others = texts
    if address := next((each for each in others if each.startswith(WEB)), ""):
        return f"[{first}]({address})"
    if not first.startswith(("[", "{")):
        return first
    try:
        names = [text_of(each) for each in list_of(json.loads(first)) if text_of(each).strip()]
    except (ValueError, RecursionError):
        return ""
    return (names[1:2] or names[:1] or [""])[0]  # the kind of the thing comes before its name


def _own_pages(reference: Data) -> Pages:
    """Return the pages that a mark cites, without supporting ones."""
    return _pages({**reference, "sources": None, "supporting_websites": None}, deep=False)


def _pages(reference: object, *, deep: bool = True) -> Pages:
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
    return pages


def _start(citation: Data) -> float:
    start = citation.get("start_ix")
    return start if isinstance(start, int | float) else 0
