"""The sections of a conversation as a reader sees it, facts first; all pages for people are made of them."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from conversation_mcp.conversations.phrases import (
    SOMEBODYS_WORDS,
    answered_by,
    called,
    charged,
    dotted,
    minute,
    paragraphs,
    relations_of,
    spent,
)
from conversation_mcp.conversations.steps import step_name, step_text
from conversation_mcp.records.attached import AttachedFile, AttachedImage, named_by
from conversation_mcp.records.costs import cost_of
from conversation_mcp.records.memories import Memory
from conversation_mcp.records.models import Conversation, Message, PendingTurn, Source, Summary
from conversation_mcp.records.transcript import timeline
from conversation_mcp.records.workflow_steps import WorkflowStep
from conversation_mcp.text import one_line

Kind = Literal["system", "summary", "question", "answer", "unanswered", "step"]
KINDS: dict[str, Kind] = {"user": "question", "assistant": "answer"}


class Section(NamedTuple):
    """A message, an unanswered question, a workflow step, or the summary of the first messages.

    Texts are Markdown as their authors wrote it, facts are plain text.
    """

    kind: Kind
    name: str
    heading: str
    """The name with its number among sections of its kind."""
    number: int
    """The number of the message; of anything else, that of the message before it; 0 for a summary."""
    tool: str
    by: str
    """The provider that answered, or was asked."""
    cost: str
    time: str
    text: str
    partial_text: str = ""
    reasoning: str = ""
    tokens: str = ""
    """What the answer took, as `4,252 tokens in, 310 out`; only pages with room show it."""
    attached: tuple[AttachedFile | AttachedImage, ...] = ()
    """The files and images that a question names."""
    sources: tuple[Source, ...] = ()
    related_questions: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    is_resumable: bool = False
    """Whether the answer can still be fetched."""

    @property
    def facts(self) -> tuple[str, ...]:
        """The known facts, in the order in which they are shown."""
        return tuple(filter(None, (self.tool, self.by, self.cost, self.time)))

    @property
    def whole_text(self) -> str:
        """The text, and the part of an answer that arrived."""
        return f"{self.text}\n\nText so far:\n\n{self.partial_text}" if self.partial_text else self.text


def facts(conversation: Conversation) -> dict[str, str | int | float | list[str]]:
    """Return the facts of the whole conversation by their names in the file, in the order in which they are shown."""
    cost_usd = cost_of(conversation)
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
        "related": list(relations_of(conversation.related)),
        "importedFrom": conversation.imported.source if conversation.imported else None,
    }
    return {name: value for name, value in known.items() if value not in (None, [])}


class Sections:
    """The summary if there is one, the messages in order, and other entries where they came.

    A section is made when it is asked for: a conversation may have thousands, of which a page shows a few.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._pending = conversation.pending_turn
        self._beside = list(_all_beside(conversation))
        self._entries = list(timeline(conversation))

    def __len__(self) -> int:
        return len(self._beside) + len(self._entries)

    def place_of(self, number: int) -> int | None:
        """Return how many sections stand before the message of that number; None if it has no such message."""
        places = (place for place, (found, _) in enumerate(self._entries, len(self._beside)) if found >= number)
        return next(places, None)

    def part(self, first: int, end: int) -> Iterator[Section]:
        """Yield the sections with the places from `first` to before `end`."""
        yield from self._beside[first:end]
        start = max(0, first - len(self._beside))
        questions = sum(_is_question(entry) for _, entry in self._entries[:start])
        for number, entry in self._entries[start : max(0, end - len(self._beside))]:
            questions += _is_question(entry)
            if isinstance(entry, WorkflowStep):
                yield _step(entry, number)
            elif isinstance(entry, PendingTurn):
                yield _unanswered(entry, number, is_waited_for=entry is self._pending)
            else:
                yield _message(entry, number, max(questions, 1))


def sections(conversation: Conversation) -> Iterator[Section]:
    """Yield all sections of a conversation."""
    found = Sections(conversation)
    return found.part(0, len(found))


def _all_beside(conversation: Conversation) -> Iterator[Section]:
    if conversation.closing_summary:
        yield _beside("Outcome", conversation.closing_summary, conversation.ended_at)
    if conversation.memories:
        yield _beside("Memories", paragraphs(SOMEBODYS_WORDS, "\n".join(map(_remembered, conversation.memories))))
    if conversation.longest_summary:
        yield _summary(conversation.longest_summary)


def _is_question(entry: Message | PendingTurn | WorkflowStep) -> bool:
    return isinstance(entry, Message) and entry.role == "user"


def _beside(name: str, text: str, time: str | None = None) -> Section:
    """Return what belongs to the whole conversation and is no message of it."""
    return Section("summary", name, name, 0, "", "", "", one_line(minute(time)), text)


def _remembered(memory: Memory) -> str:
    facts = dotted(minute(memory.created_at), ", ".join(memory.tags or ()), memory.model)
    return f"- {one_line(memory.content)}{f' ({facts})' if facts else ''}"


def _summary(summary: Summary) -> Section:
    name = f"Summary of messages {summary.first_message} to {summary.last_message}"
    return Section(
        kind="summary",
        name=name,
        heading=name,
        number=0,
        tool="",
        by=one_line(answered_by(summary.provider, None, summary.model)),
        cost=charged(summary.usage),
        time=one_line(minute(summary.created_at)),
        text=summary.content,
    )


def _message(message: Message, number: int, question: int) -> Section:
    kind = KINDS.get(message.role, "system")
    return Section(
        kind=kind,
        name=message.role if kind == "system" else kind.capitalize(),
        heading=f"{message.role.capitalize()} message" if kind == "system" else f"{kind.capitalize()} {question}",
        number=number,
        tool=one_line(message.tool or ""),
        by=one_line(dotted(answered_by(message.provider, message.preset, message.model), message.stance or "")),
        cost=charged(message.usage),
        tokens=spent(message.usage),
        time=one_line(minute(message.created_at)),
        text=message.content,
        reasoning=message.reasoning or "",
        attached=named_by(message),
        sources=message.sources or (),
        related_questions=message.related_questions or (),
        notices=message.notices or (),
    )


def _unanswered(turn: PendingTurn, number: int, *, is_waited_for: bool) -> Section:
    name = f"Question without an answer: {turn.status}"
    is_unsettled = turn.response_id is not None and turn.status != "failed" and turn.error is None
    return Section(
        kind="unanswered",
        name=name,
        heading=name,
        number=number,
        tool=one_line(turn.tool or ""),
        by=one_line(turn.provider or ""),
        cost=charged(turn.usage),
        time=one_line(minute(turn.started_at)),
        text=paragraphs(turn.question, called(turn)),
        partial_text=turn.partial_text or "",
        attached=named_by(turn),
        notices=(f"{turn.error.code}: {turn.error.message}",) if turn.error else (),
        is_resumable=is_waited_for and is_unsettled,
    )


def _step(step: WorkflowStep, number: int) -> Section:
    name = step_name(step)
    return Section(
        kind="step",
        name=name,
        heading=name,
        number=number,
        tool="",
        by="",
        cost="",
        time=one_line(minute(step.created_at)),
        text=step_text(step),
    )
