"""What a chatbot reads of its log: pages of messages, and the newest turns for its next prompt."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from pydantic import JsonValue

from conversation_mcp.prompting.measure import Measure
from conversation_mcp.prompting.summaries import newest_summary
from conversation_mcp.prompting.transcript import Said
from conversation_mcp.providers.estimate import TOKENS_PER_MESSAGE
from conversation_mcp.records.message_ids import with_ids
from conversation_mcp.records.models import Conversation, Message, Role, Summary
from conversation_mcp.records.record import Record

Order = Literal["oldest", "newest"]
SUMMARY_PART = 4
"""Which part of what fits a summary may take: a fourth."""
UNSHOWN_ROLES = frozenset(("system", "developer", "tool"))


class LoggedMessage(Record):
    """A message of the log."""

    message_id: str
    """Its id in the conversation."""
    role: Role
    """`user` or `assistant`."""
    content: str
    """Its text."""
    created_at: str | None = None
    """When it was stored; absent if the file does not say."""
    client_message_id: str | None = None
    """The id that the chatbot gave it."""
    metadata: dict[str, JsonValue] | None = None
    """Facts that the chatbot added."""

    @classmethod
    def of_message(cls, message: Message) -> "LoggedMessage":
        """Return the message as the log shows it; it has an id."""
        return cls.of(**{name: getattr(message, name) for name in cls.model_fields})


class LoggedPage(Record):
    """A page of the log."""

    conversation_id: str
    """The id of the conversation."""
    messages: tuple[LoggedMessage, ...]
    """The page, without system messages."""
    offset: int
    """How many messages come before the page, in the order that was asked for."""
    total_count: int
    """How many messages all pages have."""
    has_more: bool
    """Whether there are messages after this page; those that a long page leaves out are on the next one."""


class RecentMessages(Record):
    """The newest turns of the log."""

    conversation_id: str
    """The id of the conversation."""
    messages: tuple[LoggedMessage, ...]
    """The newest whole turns that fit, oldest first."""
    summary: str | None = None
    """What was said before them, if a summary of it is there and fits."""
    summarized_count: int | None = None
    """How many of the first messages the summary covers."""
    left_out_count: int
    """How many messages before those that are returned neither fit nor are covered by the summary."""
    estimated_tokens: int
    """About how many tokens messages and summary have."""
    total_count: int
    """How many messages the log has."""


class _Shown(NamedTuple):
    """A message, and its number in the file."""

    number: int
    message: Message


def logged_page(conversation: Conversation, *, limit: int, offset: int, order: Order, max_chars: int) -> LoggedPage:
    """Return up to `limit` messages from `offset` on; fewer if they have more than `max_chars`, but at least one."""
    shown = [one.message for one in _shown(conversation)]
    ordered = shown if order == "oldest" else shown[::-1]
    page: list[LoggedMessage] = []
    left = max_chars
    for message in ordered[offset : offset + limit]:
        left -= len(message.content)
        if page and left < 0:
            break
        page.append(LoggedMessage.of_message(message))
    return LoggedPage(
        conversation_id=conversation.conversation_id,
        messages=tuple(page),
        offset=offset,
        total_count=len(shown),
        has_more=offset + len(page) < len(shown),
    )


def recent_messages(conversation: Conversation, max_tokens: int, measure: Measure) -> RecentMessages:
    """Return the newest whole turns that fit into so many tokens, with the summary of the rest if it fits too."""
    shown = _shown(conversation)
    first, tokens = _fitting(shown, max_tokens, measure)
    summary = newest_summary(conversation, shown[first - 1].number) if first else None
    if summary and (size := measure.tokens(summary.content) + TOKENS_PER_MESSAGE) <= max_tokens:
        first, tokens = _fitting(shown, max_tokens - size, measure)
        tokens += size
    else:
        summary = None
    covered = sum(one.number <= summary.last_message for one in shown[:first]) if summary else 0
    return RecentMessages.of(
        conversation_id=conversation.conversation_id,
        messages=tuple(LoggedMessage.of_message(one.message) for one in shown[first:]),
        summary=summary.content if summary else None,
        summarized_count=covered or None,
        left_out_count=first - covered,
        estimated_tokens=tokens,
        total_count=len(shown),
    )


def left_to_summarise(
    conversation: Conversation, max_tokens: int | None, measure: Measure
) -> tuple[tuple[Said, ...], int | None]:
    """Return the messages that `recent_messages` leaves out for so many tokens, and how long their summary may be.

    Without a limit, they are all but the newest turn.
    """
    shown = _shown(conversation)
    if max_tokens is None:
        most = None
        first = len(shown) - len(turns[-1]) if (turns := _turns(shown)) else 0
    elif _fitting(shown, max_tokens, measure)[0] == 0:
        return (), None
    else:
        most = max(max_tokens // SUMMARY_PART, TOKENS_PER_MESSAGE + 1)
        first, _ = _fitting(shown, max_tokens - most, measure)
    return tuple(_said(conversation.conversation_id, one) for one in shown[:first] if one.message.content.strip()), most


def covered_by(conversation: Conversation, summary: Summary) -> int:
    """Return how many messages of the log the summary covers."""
    return sum(one.number <= summary.last_message for one in _shown(conversation))


def logged_count(conversation: Conversation) -> int:
    """Return how many messages the log has."""
    return len(_shown(conversation))


def _said(conversation_id: str, shown: _Shown) -> Said:
    role = "user" if shown.message.role == "user" else "assistant"
    return Said(conversation_id, shown.number, role, shown.message.content)


def _shown(conversation: Conversation) -> list[_Shown]:
    messages = with_ids(conversation.messages)
    return [_Shown(number, one) for number, one in enumerate(messages, 1) if one.role not in UNSHOWN_ROLES]


def _fitting(shown: Sequence[_Shown], most: int, measure: Measure) -> tuple[int, int]:
    """Return the place of the first message that fits with all after it, and their tokens; turns are not divided."""
    first, tokens = len(shown), 0
    for turn in reversed(_turns(shown)):
        size = sum(measure.tokens(one.message.content) + TOKENS_PER_MESSAGE for one in turn)
        if tokens + size > most:
            break
        first, tokens = first - len(turn), tokens + size
    return first, tokens


def _turns(shown: Iterable[_Shown]) -> list[list[_Shown]]:
    """Return the turns: what a user says in a row, with all answers to it."""
    turns: list[list[_Shown]] = []
    for role, group in groupby(shown, key=lambda one: one.message.role):
        if role == "user" or not turns:
            turns.append([])
        turns[-1].extend(group)
    return turns
