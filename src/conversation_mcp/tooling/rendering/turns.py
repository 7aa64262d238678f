"""Answers as text."""

import re
from collections.abc import Iterable, Sequence

from conversation_mcp.conversations.expiry import expiry_line
from conversation_mcp.conversations.phrases import answered_by, charged, dotted, noted, paragraphs
from conversation_mcp.records.models import Source
from conversation_mcp.text import counted, one_line
from conversation_mcp.tooling.rendering.attachments import render_attachments
from conversation_mcp.turns.result import TurnResult

CITATION = re.compile(r"\[([0-9]{1,18})\]")


def render_turn(result: TurnResult) -> str:
    """Return the answer below a line of facts, with its notices, sources and next step."""
    if result.status == "running":
        return paragraphs(
            f"Conversation {result.conversation_id} · still running ({result.elapsed_seconds} s)"
            " · nothing is lost if you stop waiting",
            f"Last seen: {result.progress}\n{result.next_step or ''}".strip(),
        )
    place = " started" if result.turn == 1 else f" · turn {result.turn}" if result.turn else " · not saved"
    text = result.raw_result_text or ""
    return paragraphs(
        dotted(
            f"Conversation {result.conversation_id}{place}",
            answered_by(result.provider, result.preset, result.model_used),
            counted(len(result.search_results), "source") if result.search_results else "",
            charged(result.usage),
        ),
        noted(result.notices),
        text,
        f"Reasoning\n{result.reasoning}" if result.reasoning else "",
        render_sources(result.search_results or (), text),
        render_attachments(result.files or (), result.images or ()),
        _listed("Related questions", [f"- {question}" for question in result.related_questions or ()]),
        expiry_line(result.archived_after, result.forgotten_after),
        f"File: {result.conversation_path}" if result.turn == 1 and result.conversation_path else "",
        result.next_step or "",
    )


def render_sources(sources: Iterable[Source], text: str) -> str:
    """Return the numbered list of sources; those that the text does not cite are marked."""
    cited = {int(number) for number in CITATION.findall(text)}
    return _listed("Sources", [_source(each) + ("" if each.id in cited else " (not cited)") for each in sources])


def _source(source: Source) -> str:
    place = source.place
    named = " — ".join(
        part for part in (f"[{source.id}] {source.title or place}", place if source.title else "") if part
    )
    return one_line(named + (f" ({source.date})" if source.date else ""))


def _listed(head: str, lines: Sequence[str]) -> str:
    return "\n".join((head, *lines)) if lines else ""
