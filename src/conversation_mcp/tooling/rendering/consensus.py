"""The verdicts of a consensus as text."""

from conversation_mcp.conversations.phrases import charged, dotted, noted, paragraphs
from conversation_mcp.text import counted, one_line
from conversation_mcp.tooling.rendering.attachments import render_attachments
from conversation_mcp.tooling.rendering.turns import render_turn
from conversation_mcp.turns.consensus_result import ConsensusResult, Verdict
from conversation_mcp.turns.result import TurnResult


def render_consensus(result: TurnResult) -> str:
    """Return all verdicts, each below a line that names its author."""
    if not isinstance(result, ConsensusResult) or result.status == "running":
        return render_turn(result)
    answered = sum(verdict.status != "failed" for verdict in result.verdicts)
    place = "" if result.turn else " · not saved"
    return paragraphs(
        dotted(
            f"Conversation {result.conversation_id}{place}",
            f"{answered} of {counted(len(result.verdicts), 'model')} answered",
            charged(result.usage),
        ),
        noted(result.notices),
        *(_verdict(verdict) for verdict in result.verdicts if verdict.status != "failed"),
        _verdict(result.synthesis) if result.synthesis and result.synthesis.status != "failed" else "",
        render_attachments(result.files or (), result.images or ()),
        f"File: {result.conversation_path}" if result.conversation_path else "",
        result.next_step or "",
    )


def _verdict(verdict: Verdict) -> str:
    cut = "cut off by the provider" if verdict.status == "incomplete" else ""
    head = dotted(f"## {one_line(verdict.model)}", one_line(verdict.stance or ""), cut, charged(verdict.usage))
    text = verdict.text or ""
    # Indented, so that a line of a verdict cannot be taken for the heading of another one.
    body = "\n".join(f"  {line}" if line else "" for line in text.split("\n"))
    return paragraphs(head, noted(verdict.notices), body)
