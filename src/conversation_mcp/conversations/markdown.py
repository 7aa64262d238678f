"""A conversation as Markdown that a person reads from top to bottom."""

from collections.abc import Iterable

from conversation_mcp.conversations.phrases import answered_by, dotted, merged_from, minute, paragraphs
from conversation_mcp.records.costs import total_cost
from conversation_mcp.records.models import Conversation, Message, PendingTurn, Source
from conversation_mcp.records.titles import title_of_conversation
from conversation_mcp.records.transcript import transcript
from conversation_mcp.text import counted, dollars, one_line

ASKED = {"user": "Question", "assistant": "Answer"}


def markdown(conversation: Conversation) -> str:
    """Return the messages with their numbers, facts and sources, and where it was asked what has no answer."""
    entries = (part for number, entry in transcript(conversation) for part in _entry(number, entry, conversation))
    return paragraphs(*_head(conversation), *entries) + "\n"


def _head(conversation: Conversation) -> Iterable[str]:
    yield f"# {title_of_conversation(conversation)}"
    facts = (
        f"`{conversation.conversation_id}`",
        counted(conversation.turn_count, "answer"),
        dollars(total_cost(conversation.data())),
        f"updated {minute(conversation.updated_at)}",
        "archived" if conversation.archived else "",
    )
    yield dotted(*facts)
    yield merged_from(conversation.parents)


def _entry(number: int, entry: Message | PendingTurn, conversation: Conversation) -> Iterable[str]:
    if isinstance(entry, Message):
        return _message(number, entry)
    is_waited_for = entry is conversation.pending_turn
    return _unanswered(entry, conversation.conversation_id if is_waited_for else None)


def _message(number: int, message: Message) -> Iterable[str]:
    if message.role == "system":
        return
    facts = (
        f"**{ASKED.get(message.role, message.role)}**",
        f"#{number}",
        message.tool or "",
        answered_by(message.provider, message.preset, message.model),
        dollars(message.usage.cost_usd) if message.usage else "",
        minute(message.created_at),
    )
    yield "---" if message.role == "user" else ""
    yield dotted(*facts)
    yield message.content
    yield _list("Sources", map(_source, message.sources or ()))
    yield _list("Related questions", message.related_questions or ())
    yield _list("Notices", message.notices or ())


def _unanswered(turn: PendingTurn, resumable_id: str | None = None) -> Iterable[str]:
    facts = (
        f"**Question without an answer: {turn.status}**",
        turn.tool or "",
        dollars(turn.usage.cost_usd) if turn.usage else "",
        minute(turn.started_at),
    )
    yield "---"
    yield dotted(*facts)
    yield turn.question
    yield f"{turn.error.code}: {turn.error.message}" if turn.error else ""
    yield f"Text so far:\n\n{turn.partial_text}" if turn.partial_text else ""
    if resumable_id and turn.response_id and turn.status != "failed" and turn.error is None:
        yield f"Get the answer: `conversation-mcp resume {resumable_id}`"


def _source(source: Source) -> str:
    place = source.place
    title = source.title or place
    named = f"[{title}](<{source.url}>)" if source.url else title if title == place else f"{title}, `{place}`"
    return one_line(f"\\[{source.id}\\] {named}" + (f" ({source.date})" if source.date else ""))


def _list(name: str, lines: Iterable[str]) -> str:
    items = [f"- {line}" for line in lines]
    return "\n".join([f"{name}:", "", *items]) if items else ""
