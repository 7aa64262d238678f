"""The results of organizing conversations as text."""

from conversation_mcp.conversations.phrases import dotted, merged_from, noted, paragraphs
from conversation_mcp.text import counted, dollars
from conversation_mcp.tooling.tidied import DeletedConversation, StoppedTurn, TidiedConversation


def render_tidied(result: TidiedConversation) -> str:
    """Return a line of facts, then tags, origin, notices and the next step."""
    facts = (
        f"Conversation {result.conversation_id}",
        result.title,
        counted(result.message_count, "message"),
        "archived" if result.archived else "",
    )
    return paragraphs(
        dotted(*facts),
        f"Tags: {', '.join(result.tags)}" if result.tags else "",
        _origin(result),
        noted(result.notices),
        result.next_step or "",
    )


def _origin(result: TidiedConversation) -> str:
    if result.parents:
        return merged_from(result.parents)
    parent = result.parent or {}
    origin = parent.get("conversationId")
    return f"Branched from {origin} after message {parent.get('messageCount')}" if origin else ""


def render_stopped(result: StoppedTurn) -> str:
    """Return whether the question was stopped, what was billed, and the text so far."""
    pending = result.pending_turn
    if pending is None:
        return paragraphs(
            f"Conversation {result.conversation_id} · the answer came first and is kept", result.next_step or ""
        )
    cost_usd = pending.usage.cost_usd if pending.usage else None
    billed = "what was billed is not known" if cost_usd is None else f"billed {dollars(cost_usd)}"
    return paragraphs(
        f"Conversation {result.conversation_id} · the question was stopped · {billed}",
        pending.question,
        f"Text so far:\n{pending.partial_text}" if pending.partial_text else "",
        result.next_step or "",
    )


def render_deleted(result: DeletedConversation) -> str:
    """Return what was deleted and how to restore it."""
    facts = (
        f"Conversation {result.conversation_id} deleted",
        result.title or "",
        "" if result.message_count is None else counted(result.message_count, "message"),
    )
    return paragraphs(
        dotted(*facts),
        noted([f"its file could not be read: {result.problem}"] if result.problem else ()),
        result.next_step,
    )
