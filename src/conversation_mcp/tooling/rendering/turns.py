"""How results read, and how they are kept short enough for a model's context."""

import re
from collections.abc import Iterable

from conversation_mcp.conversations.history import HistoryPage, NumberedMessage
from conversation_mcp.conversations.phrases import answered_by, dotted, merged_from, paragraphs
from conversation_mcp.records.models import PendingTurn, Source, Usage
from conversation_mcp.text import counted, dollars, one_line
from conversation_mcp.turns.result import TurnResult

CITATION = re.compile(r"\[([0-9]{1,18})\]")


def render_turn(result: TurnResult) -> str:
    """Return the answer under one line of facts, with its sources, notices and the next step."""
    if result.status == "running":
        return paragraphs(
            f"Conversation {result.conversation_id} · still running ({result.elapsed_seconds} s)"
            " · nothing is lost if you stop waiting",
            f"Last seen: {result.progress}\n{result.next_step or ''}".strip(),
        )
    turn = "started" if result.turn == 1 else f"turn {result.turn}" if result.turn else "not saved"
    text = result.raw_result_text or ""
    return paragraphs(
        dotted(
            f"Conversation {result.conversation_id} {'' if turn == 'started' else '· '}{turn}",
            answered_by(result.provider, result.preset, result.model_used),
            counted(len(result.search_results), "source") if result.search_results else "",
            _cost(result.usage),
        ),
        _lines(f"Notice: {notice}" for notice in result.notices or ()),
        text,
        _lines(("Reasoning", result.reasoning) if result.reasoning else ()),
        render_sources(result.search_results or (), text),
        _lines(("Related questions", *(f"- {question}" for question in result.related_questions or ())))
        if result.related_questions
        else "",
        f"File: {result.conversation_path}" if result.turn == 1 and result.conversation_path else "",
        result.next_step or "",
    )


def render_sources(sources: Iterable[Source], text: str) -> str:
    """Return the numbered list of sources; one that the text does not cite says so."""
    cited = {int(number) for number in CITATION.findall(text)}
    lines = [_source(source) + ("" if source.id in cited else " (not cited)") for source in sources]
    return _lines(("Sources", *lines)) if lines else ""


def render_history(page: HistoryPage) -> str:
    """Return a page of the transcript, each message under its number."""
    shown = f"messages {page.offset + 1} to {page.offset + len(page.messages)} of {page.total_count}"
    if not page.messages:
        shown = f"no messages at offset {page.offset} of {page.total_count}"
    return paragraphs(
        f"Conversation {page.conversation_id} · {shown} · updated {page.updated_at}",
        merged_from(page.parents),
        _lines(f"Notice: {notice}" for notice in page.notices or ()),
        *_entries(page),
        _pending(page.pending_turn, page.pending_age_seconds) if page.pending_turn else "",
        f"File: {page.conversation_path}",
    )


def _entries(page: HistoryPage) -> Iterable[str]:
    left = list(page.unanswered_turns or ())
    for message in page.messages:
        while left and (left[0].after_message or 0) < message.number:
            yield _pending(left.pop(0), None)
        yield _message(message)
    yield from (_pending(turn, None) for turn in left)


def _message(message: NumberedMessage) -> str:
    facts = (
        f"#{message.number} {message.role}",
        message.tool or "",
        answered_by(message.provider, message.preset, message.model),
        _cost(message.usage),
        message.created_at or "",
    )
    return paragraphs(
        dotted(*facts),
        message.content,
        render_sources(message.sources or (), message.content),
    )


def _pending(pending: PendingTurn, age_seconds: int | None) -> str:
    age = "" if age_seconds is None else f"asked {age_seconds} s ago"
    facts = (f"Question without an answer · {pending.status}", pending.tool or "", age)
    return paragraphs(
        dotted(*facts),
        pending.question,
        f"{pending.error.code}: {pending.error.message}" if pending.error else "",
        f"Text so far:\n{pending.partial_text}" if pending.partial_text else "",
    )


def _source(source: Source) -> str:
    place = source.place
    named = " — ".join(
        part for part in (f"[{source.id}] {source.title or place}", place if source.title else "") if part
    )
    return one_line(named + (f" ({source.date})" if source.date else ""))


def _cost(usage: Usage | None) -> str:
    return dollars(usage.cost_usd) if usage else ""


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)
