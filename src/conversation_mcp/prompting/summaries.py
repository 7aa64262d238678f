"""What stands in place of messages that do not fit: their summaries, or a line that counts them."""

from collections.abc import Sequence
from dataclasses import dataclass

from conversation_mcp.prompting import frames
from conversation_mcp.prompting.measure import Measure
from conversation_mcp.prompting.transcript import Said
from conversation_mcp.records.models import Conversation, Summary
from conversation_mcp.text import counted

SUMMARY_SHARE = 0.1
"""The part of a request that summaries may take."""


@dataclass(frozen=True)
class NeededSummary:
    """A summary that does not exist yet: of the messages of a conversation up to one, which are left out."""

    conversation_id: str
    last_message: int
    """The number of the last message that it covers; it covers all before it, too."""
    known: Summary | None
    """The summary of the first of them, which the new one takes in; of all of them if it is only too long."""
    most_tokens: int | None
    """How long it may be."""


@dataclass(frozen=True)
class StandingSummary:
    """A summary that stands in a request."""

    conversation_id: str
    summary: Summary
    tokens: int


@dataclass(frozen=True)
class Lead:
    """What stands before the first message that is sent."""

    text: str = ""
    needed: tuple[NeededSummary, ...] = ()
    summarised: int = 0
    """How many of the messages that are left out a summary stands for."""
    standing: tuple[StandingSummary, ...] = ()
    """The summaries in it."""


def has_summaries(chain: Sequence[Conversation]) -> bool:
    """Tell whether there is a summary of any of the conversations."""
    return any(conversation.summaries for conversation in chain)


def lead_of(chain: Sequence[Conversation], left_out: Sequence[Said], measure: Measure, room: int | None) -> Lead:
    """Return what stands in place of the messages that are left out, and the summaries that are missing.

    Summaries of the newest conversations come first as long as there is room.
    """
    if not left_out:
        return Lead()
    blocks: list[str] = []
    standing: list[StandingSummary] = []
    share = None if room is None else room // len(chain)
    needed: list[NeededSummary] = []
    covered, left = 0, room
    for conversation in reversed(chain):
        gone = [one for one in left_out if one.conversation_id == conversation.conversation_id]
        if not gone:
            continue
        known = newest_summary(conversation, gone[-1].number)
        block, count = "", 0
        if known:
            count = sum(one.number <= known.last_message for one in gone)
            block = _framed(conversation.conversation_id, known, count)
        size = measure.tokens(block + "\n\n") if block else 0
        if known is None or known.last_message < gone[-1].number or (share is not None and size > share):
            needed.append(NeededSummary(conversation.conversation_id, gone[-1].number, known, share))
        if known is None:
            continue
        if left is None or size <= left:
            blocks.insert(0, block)
            standing.insert(0, StandingSummary(conversation.conversation_id, known, size))
            covered += count
            left = None if left is None else left - size
    if rest := len(left_out) - covered:
        blocks.append(left_out_line(rest))
    return Lead("\n\n".join(blocks), tuple(reversed(needed)), covered, tuple(standing))


def left_out_line(count: int) -> str:
    """Return the line that stands for so many messages."""
    return f"[{counted(count, 'earlier message')} left out here, because they do not fit]"


def newest_summary(conversation: Conversation, last_message: int) -> Summary | None:
    """Return the summary that covers most of the messages up to the last one that is left out, the shortest such."""
    fitting = (one for one in conversation.summaries or () if one.content and one.last_message <= last_message)
    return max(fitting, key=lambda one: (one.last_message, -len(one.content)), default=None)


def _framed(conversation_id: str, summary: Summary, count: int) -> str:
    mark = frames.mark_for(f"{conversation_id}\n{summary.last_message}\n{summary.content}", (summary.content,))
    return frames.summary_frame(mark, summary.content, count)
