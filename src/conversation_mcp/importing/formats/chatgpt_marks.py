"""ChatGPT's citation marks, of three generations, as `[n]` with numbered sources; other marks as their words."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from conversation_mcp.importing.base import LeftOut
from conversation_mcp.importing.citations import Numbers, Pages
from conversation_mcp.importing.formats.chatgpt_pages import own_pages, pages_of
from conversation_mcp.importing.messages import Data, count_named, list_of, name_of, object_of, text_of
from conversation_mcp.records.models import Source

OPENING, SEPARATOR, CLOSING = "\ue200", "\ue202", "\ue201"
PRIVATE_MARK = re.compile(f"( ?)({OPENING}([^{OPENING}{CLOSING}]*){CLOSING})")
CUT_MARK = re.compile(
    f"( ?){OPENING}([a-z_]{{1,40}}){SEPARATOR}"
    rf'(?:((?:turn[0-9]+[a-z_]*[0-9]*|L[0-9-]+)[,{SEPARATOR}]*)+|(\[(?:"[^"\n]*"?|[^"\[\]\n])*\]?))?'
)
"""The beginning of a mark without an end, which may be followed by ordinary text."""
LEFT_SIGNS = re.compile("[\ue200-\ue206]")
MAX_NESTED = 4
BRACKET_MARK = re.compile(r"【[^【】\n]{0,200}】")
BRACKET_NUMBER = re.compile(r"【([0-9]{1,6})†")
REFERENCE = re.compile(r"(?:(?:turn[0-9]+(?:[a-z_]+[0-9]*)?|L[0-9]+(?:-L?[0-9]+)?)[,\s]*)+")
"""References to pages and files within a mark, as opposed to words."""
REFERENCE_FIELDS = ("matched_text", "type", "prompt_text", "refs")
NO_PAGES: Pages = []
WEB = ("https://", "http://")
NAMES = ("name", "title", "text")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)+)"?')


def cited(
    text: str,
    metadata: Data,
    tool_pages: Sequence[Any],
    told: Mapping[str, Pages],
    left_out: Counter[LeftOut],
) -> tuple[str, tuple[Source, ...]]:
    """Return the text with our marks, and the sources. A mark with neither source nor words is removed and counted.

    Args:
        text: the text with marks.
        metadata: the metadata of the message.
        tool_pages: the pages that the last tool found, to which the second generation of marks refers.
        told: the pages so far by their names in marks, for marks that the metadata says nothing about.
        left_out: the counter of removed marks.
    """
    references = [object_of(reference) for reference in list_of(metadata.get("content_references"))]
    ordered = sorted(map(object_of, list_of(metadata.get("citations"))), key=_start)
    numbers = Numbers()
    _count_unused(references, text, left_out)
    text = _without_private(text, _PrivateMarks(references, told, numbers, left_out))
    # Chinese and Japanese texts have such brackets of their own, but without a dagger.
    if ordered or "†" in text:
        older = iter([pages_of(citation.get("metadata")) for citation in ordered])

        def bracket(found: re.Match[str]) -> str:
            if ordered:
                return numbers.marks(next(older, NO_PAGES)) or _removed(left_out)
            number = BRACKET_NUMBER.match(found[0])
            place = int(number[1]) if number else len(tool_pages)
            return numbers.marks(pages_of(tool_pages[place]) if place < len(tool_pages) else []) or _removed(left_out)

        text = BRACKET_MARK.sub(bracket, text)
    for pages in (*map(pages_of, references), *(pages_of(citation.get("metadata")) for citation in ordered)):
        numbers.marks(pages)  # a page that is listed but not cited is a source too
    return text, tuple(numbers.sources.values())


def unmarked(text: str, left_out: Counter[LeftOut]) -> str:
    """Return a text that is no answer, such as reasoning, with the words of its marks."""
    return _without_private(text, _PrivateMarks((), {}, Numbers(), left_out))


class _PrivateMarks:
    """What to show in place of the marks of the third generation."""

    def __init__(
        self, references: Sequence[Data], told: Mapping[str, Pages], numbers: Numbers, left_out: Counter[LeftOut]
    ) -> None:
        self._by_text = {mark: each for each in references if (mark := text_of(each.get("matched_text")))}
        nameless = (each for each in references if not each.get("matched_text") and not each.get("refs"))
        self._in_turn = iter([pages for each in nameless if (pages := pages_of(each))])
        self._told = told
        self._numbers = numbers
        self._left_out = left_out

    def shown(self, found: re.Match[str]) -> str:
        """Return what a whole mark shows. One that shows nothing takes the blank before it along."""
        blank, mark, (kind, *payload) = found[1], found[2], found[3].split(SEPARATOR)
        reference = self._by_text.get(mark, {})
        if kind == "cite":
            pages = own_pages(reference) if reference else self._pages(payload) or next(self._in_turn, NO_PAGES)
            words = self._numbers.marks(pages) or _words_told(reference) or _removed(self._left_out)
        elif not (words := _words_told(reference) or _words(payload, self._pages(payload))):
            count_named(f"mark {kind.split('{')[0]}", {"text": kind}, self._left_out)
        return blank + words if words else ""

    def cut(self, found: re.Match[str]) -> str:
        """Return what a mark without an end shows: the words in it, or nothing."""
        blank, kind, payload = found[1], found[2], found[4] or ""
        if words := _words([payload], NO_PAGES):
            return blank + words
        count_named("citation marks" if kind == "cite" else f"mark {kind}", {"text": found[0]}, self._left_out)
        return ""

    def _pages(self, payload: Sequence[str]) -> Pages:
        names = [name for part in payload for name in part.replace(",", " ").split()]
        return [page for name in names for page in self._told.get(name, NO_PAGES)]


def _without_private(text: str, marks: _PrivateMarks) -> str:
    ends, begins = text.rstrip().endswith(CLOSING), text.lstrip().startswith(OPENING)
    for _ in range(MAX_NESTED):
        text = PRIVATE_MARK.sub(marks.shown, text)
    text = LEFT_SIGNS.sub("", CUT_MARK.sub(marks.cut, text))
    text = text.rstrip() if ends else text
    return text.lstrip() if begins else text


def _count_unused(references: Iterable[Data], text: str, left_out: Counter[LeftOut]) -> None:
    """Count the references that name no page and belong to no mark in the text."""
    for reference in references:
        mark = text_of(reference.get("matched_text"))
        if not pages_of(reference) and not (mark and mark in text):
            count_named(name_of(reference.get("type")) or "content_references", reference, left_out, REFERENCE_FIELDS)


def _removed(left_out: Counter[LeftOut]) -> str:
    left_out["citation marks"] += 1
    return ""


def _words_told(reference: Data) -> str:
    """Return the words that the reference of a mark gives to show in its place."""
    words = text_of(reference.get("alt")) or text_of(reference.get("name"))
    return "" if PRIVATE_MARK.search(words) else words


def _words(payload: Sequence[str], pages: Pages) -> str:
    """Return the words of a mark without a reference: a link, the name of a thing, or its first words."""
    texts = [part for part in map(str.strip, payload) if part and not REFERENCE.fullmatch(part)]
    if not texts:
        return ""
    first, *others = texts
    if first.startswith(("[", "{")):
        return _name_in(first)
    address = next((each for each in (*others, *(url for url, _ in pages)) if each.startswith(WEB)), None)
    return f"[{first}]({address})" if address else first


def _name_in(payload: str) -> str:
    """Return the name of a thing that is told as JSON, which may be cut off."""
    try:
        told: object = json.loads(payload)
    except (ValueError, RecursionError):
        told = QUOTED.findall(payload) if payload.startswith("[") else None
    facts = object_of(told)
    given = list_of(told) or [facts.get(name) for name in NAMES]
    names = [text_of(each) for each in given if text_of(each).strip()]
    # In a list, the kind of the thing comes before its name.
    return next(iter((names[1:2] if list_of(told) else []) or names), "")


def _start(citation: Data) -> float:
    start = citation.get("start_ix")
    return start if isinstance(start, int | float) else 0
