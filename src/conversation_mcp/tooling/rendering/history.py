"""Pages of the history as text."""

from collections.abc import Iterable

from conversation_mcp.conversations.attached import attached_lines
from conversation_mcp.conversations.expiry import expiry_line
from conversation_mcp.conversations.history import HistoryPage, NumberedMessage
from conversation_mcp.conversations.phrases import (
    answered_by,
    called,
    charged,
    dotted,
    merged_from,
    noted,
    paragraphs,
    related_to,
)
from conversation_mcp.conversations.steps import step_name, step_text
from conversation_mcp.records.attached import NamesFiles, named_by
from conversation_mcp.records.models import PendingTurn, Summary
from conversation_mcp.records.workflow_steps import WorkflowStep
from conversation_mcp.tooling.rendering.turns import render_sources


def render_history(page: HistoryPage) -> str:
    """Return a page of the transcript, each message under its number."""
    shown = f"messages {page.offset + 1} to {page.offset + len(page.messages)} of {page.total_count}"
    if not page.messages:
        shown = f"no messages at offset {page.offset} of {page.total_count}"
    return paragraphs(
        f"Conversation {page.conversation_id} · {shown} · updated {page.updated_at}",
        merged_from(page.parents),
        related_to(page.related),
        expiry_line(page.archived_after, page.forgotten_after),
        noted(page.notices),
        _summary(page.summary) if page.summary else "",
        *_entries(page),
        _pending(page.pending_turn, page.pending_age_seconds) if page.pending_turn else "",
        f"File: {page.conversation_path}" if page.conversation_path else "",
    )


def _entries(page: HistoryPage) -> Iterable[str]:
    steps = ((step.after_message or 0, _step(step)) for step in page.workflow_steps or ())
    turns = ((turn.after_message or 0, _pending(turn, None)) for turn in page.unanswered_turns or ())
    left = sorted((*steps, *turns), key=lambda entry: entry[0])
    for message in page.messages:
        while left and left[0][0] < message.number:
            yield left.pop(0)[1]
        yield _message(message)
    yield from (text for _, text in left)


def _step(step: WorkflowStep) -> str:
    return paragraphs(dotted(step_name(step), step.created_at), step_text(step))


def _message(message: NumberedMessage) -> str:
    facts = (
        f"#{message.number} {message.role}",
        message.tool or "",
        answered_by(message.provider, message.preset, message.model),
        message.stance or "",
        charged(message.usage),
        message.created_at or "",
    )
    return paragraphs(
        dotted(*facts),
        message.content,
        _attached(message),
        render_sources(message.sources or (), message.content),
    )


def _summary(summary: Summary) -> str:
    facts = (
        f"Summary of messages {summary.first_message} to {summary.last_message}",
        answered_by(summary.provider, None, summary.model),
        charged(summary.usage),
        summary.created_at or "",
    )
    return paragraphs(dotted(*facts), summary.content)


def _attached(question: NamesFiles) -> str:
    return "\n".join(f"File: {line}" for line in attached_lines(named_by(question)))


def _pending(pending: PendingTurn, age_seconds: int | None) -> str:
    age = "" if age_seconds is None else f"asked {age_seconds} s ago"
    facts = (f"Question without an answer · {pending.status}", pending.tool or "", age)
    return paragraphs(
        dotted(*facts),
        pending.question,
        _attached(pending),
        called(pending),
        f"{pending.error.code}: {pending.error.message}" if pending.error else "",
        f"Text so far:\n{pending.partial_text}" if pending.partial_text else "",
    )
