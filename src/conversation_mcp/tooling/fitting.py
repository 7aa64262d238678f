"""Fits answers to the limit of a result: text is cut at a paragraph, sources are left out, and a notice says so."""

from collections.abc import Iterable
from itertools import accumulate

from conversation_mcp.records.models import Source, without_snippets
from conversation_mcp.text import cut
from conversation_mcp.turns.result import TurnResult


def fit(result: TurnResult, max_chars: int) -> TurnResult:
    """Return the result with at most `max_chars` of text and as much of sources; an unsaved answer is never cut."""
    if result.message_count is None:  # not saved: there is no file that has the rest
        return result
    return _with_fewer_sources(_with_less_text(result, max_chars), max_chars)


def _with_less_text(result: TurnResult, max_chars: int) -> TurnResult:
    text = result.raw_result_text or ""
    if len(text) <= max_chars:
        return result
    head = cut(text, max_chars)
    notice = (
        f"the answer is cut here, at {len(head):,} of {len(text):,} characters; "
        f"the whole text is in {result.conversation_path}"
    )
    return _changed(result, notice, raw_result_text=head)


def _with_fewer_sources(result: TurnResult, max_chars: int) -> TurnResult:
    sources = result.search_results or ()
    if _size(sources) > max_chars - len(result.raw_result_text or "") and any(source.snippet for source in sources):
        notice = f"the excerpts of the sources are left out here; they are in {result.conversation_path}"
        sources = without_snippets(sources)
        result = _changed(result, notice, search_results=sources)
    sizes = accumulate(_size([source]) for source in sources)
    fitting = sum(size <= max_chars for size in sizes)
    if fitting == len(sources):
        return result
    notice = f"{fitting:,} of {len(sources):,} sources are shown here; all are in {result.conversation_path}"
    return _changed(result, notice, search_results=sources[:fitting])


def _changed(result: TurnResult, notice: str, **fields: object) -> TurnResult:
    return result.model_copy(update={**fields, "notices": (*(result.notices or ()), notice)})


def _size(sources: Iterable[Source]) -> int:
    return sum(len(str(source.model_dump(exclude_unset=True))) for source in sources)
