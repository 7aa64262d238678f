"""The conversations of a folder, newest first, by the few facts that a list shows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conversation_mcp.conversations.costs import total_cost
from conversation_mcp.conversations.files import Data, Found, find, read_each, seconds_of
from conversation_mcp.conversations.titles import title_of

CLOCK_SLACK_SECONDS = 2.0
"""File systems keep the time of a write less exactly than the file says it."""


@dataclass(frozen=True)
class Summary:
    """One conversation in a list."""

    conversation_id: str
    title: str
    created_at: str
    updated_at: str
    message_count: int
    turn_count: int
    cost_usd: float | None
    status: str
    """`answered`, or what became of the last question: running, interrupted, failed."""
    problem: str | None
    """Why the last question has no answer."""
    tool: str | None
    """What the last question was asked with."""
    path: str

    def data(self) -> dict[str, Any]:
        """Return the summary as JSON data, without what is not known."""
        facts = {
            "conversationId": self.conversation_id,
            "title": self.title,
            "createdAt": self.created_at,
            "updatedAt": self.updated_at,
            "messageCount": self.message_count,
            "turnCount": self.turn_count,
            "costUsd": self.cost_usd,
            "status": self.status,
            "problem": self.problem,
            "tool": self.tool,
            "conversationPath": self.path,
        }
        return {name: value for name, value in facts.items() if value is not None}


Placed = tuple[float, str, Summary]
"""When it was last changed, its id for those of the same moment, and the conversation."""


@dataclass(frozen=True)
class Listing:
    """A part of the conversations, of how many, and what could not be read on the way."""

    summaries: tuple[Summary, ...]
    total: int
    problems: list[str] = field(default_factory=list[str])


def newest(root: Path, limit: int | None = None) -> Listing:
    """Return the conversations by `updatedAt`, the latest first, and read no more files than that takes.

    Raises:
        FilesystemError: the folder cannot be read.
    """
    founds = find(root)
    founds.sort(key=lambda found: (found.written, found.conversation_id), reverse=True)
    problems: list[str] = []
    kept: list[Placed] = []
    for found, (seconds, summary) in read_each(_until_older(founds, kept, limit), _placed, problems):
        kept.append((seconds, found.conversation_id, summary))
    kept.sort(key=lambda entry: entry[:2], reverse=True)
    return Listing(tuple(summary for *_, summary in kept[:limit]), len(founds), problems)


def _until_older(founds: Iterable[Found], kept: list[tuple[float, str, Summary]], limit: int | None) -> Iterator[Found]:
    """Yield the files, latest write first, as long as one of them may be newer than those that were kept."""
    for found in founds:
        if limit is not None and len(kept) >= limit:
            kept.sort(key=lambda entry: entry[:2], reverse=True)
            del kept[limit:]
            if not kept or found.written + CLOCK_SLACK_SECONDS < kept[-1][0]:
                return
        yield found


def _placed(found: Found, data: Data) -> tuple[float, Summary]:
    summary = summary_of(found, data)
    return seconds_of(summary.updated_at), summary


def summary_of(found: Found, data: Data) -> Summary:
    """Return what a list shows of a conversation."""
    messages: list[Data] = data["messages"]
    pending: Data = data.get("pendingTurn") or {}
    questions = [message for message in messages if message["role"] == "user"]
    answers = [message for message in messages if message["role"] == "assistant"]
    asked: list[str] = [*(message["content"] for message in questions[:1]), pending.get("question", "")]
    last = pending or (questions[-1] if questions else pending)
    return Summary(
        conversation_id=found.conversation_id,
        title=title_of(data.get("title"), asked),
        created_at=data["createdAt"],
        updated_at=data["updatedAt"],
        message_count=len(messages),
        turn_count=len(answers),
        cost_usd=total_cost(data),
        status=pending.get("status", "running") if pending else "answered",
        problem=pending["error"]["message"] if pending.get("error") else None,
        tool=last.get("tool"),
        path=found.path,
    )
