"""A conversation as what a reader sees of it: facts, then questions and answers. Formats for people are made of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from conversation_mcp.conversations.phrases import answered_by, minute
from conversation_mcp.records.costs import total_cost
from conversation_mcp.records.models import Conversation, Message, PendingTurn, Source
from conversation_mcp.records.titles import title_of
from conversation_mcp.records.transcript import transcript
from conversation_mcp.text import dollars

Kind = Literal["system", "question", "answer", "unanswered"]
KINDS: dict[str, Kind] = {"user": "question", "assistant": "answer"}


@dataclass(frozen=True)
class Section:
    """A message or a question without an answer. Texts are Markdown as somebody wrote it, facts are plain text."""

    kind: Kind
    heading: str
    facts: tuple[str, ...]
    text: str
    reasoning: str = ""
    sources: tuple[Source, ...] = ()
    related_questions: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def title(conversation: Conversation) -> str:
    """Return the title that was set, else the first question, also one without an answer."""
    questions = [message.content for message in conversation.messages if message.role == "user"]
    pending = [conversation.pending_turn.question] if conversation.pending_turn else []
    return title_of(conversation.title, [*questions, *pending])


def facts(conversation: Conversation) -> dict[str, str | int | float | list[str]]:
    """Return what is known of the whole conversation, in the order in which it is shown, under the file's names."""
    cost_usd = total_cost(conversation.data())
    merged_from = [str(one.get("conversationId")) for one in conversation.parents or ()]
    known: dict[str, str | int | float | list[str] | None] = {
        "conversationId": conversation.conversation_id,
        "createdAt": conversation.created_at,
        "updatedAt": conversation.updated_at,
        "answers": conversation.turn_count,
        "models": list(dict.fromkeys(message.model for message in conversation.messages if message.model)),
        "costUsd": None if cost_usd is None else round(cost_usd, 6),
        "tags": list(conversation.tags or ()),
        "archived": "yes" if conversation.archived else None,
        "branchOf": None if merged_from else str((conversation.parent or {}).get("conversationId") or "") or None,
        "mergedFrom": merged_from,
        "importedFrom": conversation.imported.source if conversation.imported else None,
    }
    return {name: value for name, value in known.items() if value not in (None, [])}


def sections(conversation: Conversation) -> Iterator[Section]:
    """Yield the messages in their order, and what has no answer where it was asked."""
    number = 0
    for _, entry in transcript(conversation):
        if isinstance(entry, PendingTurn):
            yield _unanswered(entry)
        else:
            number += entry.role == "user"
            yield _message(entry, number)


def _message(message: Message, number: int) -> Section:
    kind = KINDS.get(message.role, "system")
    name = kind.capitalize() if kind != "system" else f"{message.role.capitalize()} message"
    return Section(
        kind=kind,
        heading=name if kind == "system" else f"{name} {max(number, 1)}",
        facts=_known(
            message.tool,
            answered_by(message.provider, message.preset, message.model),
            dollars(message.usage.cost_usd) if message.usage else "",
            minute(message.created_at),
        ),
        text=message.content,
        reasoning=message.reasoning or "",
        sources=message.sources or (),
        related_questions=message.related_questions or (),
        notices=message.notices or (),
    )


def _unanswered(turn: PendingTurn) -> Section:
    cost = dollars(turn.usage.cost_usd) if turn.usage else ""
    partial = f"\n\nText so far:\n\n{turn.partial_text}" if turn.partial_text else ""
    return Section(
        kind="unanswered",
        heading=f"Question without an answer: {turn.status}",
        facts=_known(turn.tool, turn.provider, cost, minute(turn.started_at)),
        text=turn.question + partial,
        notices=(f"{turn.error.code}: {turn.error.message}",) if turn.error else (),
    )


def _known(*facts: str | None) -> tuple[str, ...]:
    return tuple(_line(facts))


def _line(facts: Iterable[str | None]) -> Iterator[str]:
    for fact in facts:
        if fact and (line := " ".join(fact.split())):
            yield line
