"""Fits answers to the limit of a result: text is cut at a paragraph, sources are left out, and a notice says so."""

from collections.abc import Iterable
from itertools import accumulate

from conversation_mcp.records.models import Source, without_snippets
from conversation_mcp.text import cut
from conversation_mcp.turns.consensus_result import ConsensusResult, Verdict
from conversation_mcp.turns.result import TurnResult


def fit(result: TurnResult, max_chars: int) -> TurnResult:
    """Return the result with at most `max_chars` of text and as much of sources; an unsaved answer is never cut."""
    if result.message_count is None:  # not saved: there is no file that has the rest
        return result
    if isinstance(result, ConsensusResult):
        return _with_shorter_verdicts(result, max_chars)
    return _with_fewer_sources(_with_less_text(result, max_chars), max_chars)


def _with_shorter_verdicts(result: ConsensusResult, max_chars: int) -> TurnResult:
    """Return the result with the longest verdicts cut, so that all together fit."""
    texts = [each.text or "" for each in (*result.verdicts, result.synthesis) if each]
    if sum(map(len, texts)) <= max_chars:
        return result
    # The shortest come first: what one of them leaves of its share is there for longer ones.
    room, share = max_chars, 0
    for left, size in zip(range(len(texts), 0, -1), sorted(map(len, texts)), strict=True):
        share = room // left
        if size > share:
            break
        room -= size
    verdicts = tuple(_cut_verdict(each, share) for each in result.verdicts)
    synthesis = result.synthesis and _cut_verdict(result.synthesis, share)
    notice = f"long verdicts are cut here; the whole texts are in {result.conversation_path}"
    fields = {"verdicts": verdicts, **({"synthesis": synthesis} if synthesis else {})}
    return _changed(result, notice, **fields)


def _cut_verdict(verdict: Verdict, max_chars: int) -> Verdict:
    text = verdict.text or ""
    if len(text) <= max_chars:
        return verdict
    head = cut(text, max_chars)
    notice = f"cut here, at {len(head):,} of {len(text):,} characters"
    return verdict.model_copy(update={"text": head, "notices": (*(verdict.notices or ()), notice)})


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
