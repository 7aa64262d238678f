"""Pages of the stored transcript, oldest message first."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TypeVar

from pydantic import JsonValue

from conversation_mcp.conversations.expiry import Expiry
from conversation_mcp.conversations.steps import step_text
from conversation_mcp.records.attached import named_by
from conversation_mcp.records.models import Conversation, Message, PendingTurn, Summary, without_snippets
from conversation_mcp.records.record import Record
from conversation_mcp.records.relations import Relation
from conversation_mcp.records.transcript import placed, placed_steps
from conversation_mcp.records.workflow_steps import WorkflowStep
from conversation_mcp.text import counted, cut

ATTACHED_CHARS = 200
"""About what the facts about a file or image take beside its path."""
SUMMARY_CHARS = 500
"""What is shown of a summary even if the messages fill the page."""

EntryT = TypeVar("EntryT", PendingTurn, WorkflowStep)


class NumberedMessage(Message):
    """A message with its number in the file."""

    number: int
    """The place in the file, counted from 1 with the system message."""


class HistoryPage(Record):
    """A page of a conversation."""

    conversation_id: str
    """The id of the conversation."""
    created_at: str
    """When the conversation was started."""
    updated_at: str
    """When its file was last written."""
    message_count: int
    """All messages in the file, the system message included."""
    parents: tuple[dict[str, JsonValue], ...] | None = None
    """Of a merge: the conversations whose messages it holds, and how many messages each contributed."""
    related: tuple[Relation, ...] | None = None
    """Other conversations that somebody has confirmed to belong with it."""
    archived_after: str | None = None
    """When it is archived if it is not used before; absent if it stays."""
    forgotten_after: str | None = None
    """When it is forgotten, with all its messages, if it is not used before; absent if it stays."""
    summary: Summary | None = None
    """On the first page: what is sent in place of the first messages when they do not fit into a request."""
    messages: tuple[NumberedMessage, ...]
    """The page, oldest first."""
    unanswered_turns: tuple[PendingTurn, ...] | None = None
    """Questions of this page that never got an answer; `afterMessage` is the number of the message before each."""
    workflow_steps: tuple[WorkflowStep, ...] | None = None
    """Steps of workflows on this page; `afterMessage` is the number of the message before each."""
    pending_turn: PendingTurn | None = None
    """The question that has no answer yet."""
    pending_age_seconds: int | None = None
    """How long ago that question was asked."""
    offset: int
    """How many of the `totalCount` messages come before this page."""
    total_count: int
    """How many messages all pages show; the system message counts only if it was requested."""
    has_more: bool
    """Whether there are messages after this page."""
    notices: tuple[str, ...] | None = None
    """What was cut, and what was found out meanwhile."""
    conversation_path: str | None
    """The absolute path of conversation.json."""

    def noting(self, notices: tuple[str, ...], pending_age_seconds: int | None) -> "HistoryPage":
        """Return the page with facts from outside the file: notices, and the age of the pending question."""
        facts: dict[str, object] = {"notices": (*notices, *(self.notices or ()))} if notices else {}
        if pending_age_seconds is not None:
            facts["pending_age_seconds"] = pending_age_seconds
        return self.model_copy(update=facts)


def history_page(
    conversation: Conversation,
    path: str,
    *,
    limit: int,
    offset: int | None = None,
    with_system_prompt: bool = False,
    max_chars: int,
    expiry: Expiry | None = None,
) -> HistoryPage:
    """Return up to `limit` messages from `offset` on, or the last ones if no offset is given.

    Unanswered questions come with the message before them, or with the first message if there is none before.

    `max_chars` never makes a page empty: fewer messages are shown, and a single message that is too long is cut.
    """
    shown = [
        (number, message)
        for number, message in enumerate(conversation.messages, 1)
        if with_system_prompt or message.role != "system"
    ]
    first = max(0, len(shown) - limit) if offset is None else offset
    wanted = [_numbered(number, message) for number, message in shown[first : first + limit]]
    page = _within(wanted, max_chars) if offset is not None else _within(wanted[::-1], max_chars)[::-1]
    if offset is None:
        first = len(shown) - len(page)
    left = max_chars - sum(map(_size, page))
    numbers, shown_page = [number for number, _ in shown], range(first, first + len(page))
    turns = _of_page(placed(conversation), numbers, shown_page)
    fitting = _fitting(turns, list(map(_size_of_turn, turns)), left)
    left -= sum(map(_size_of_turn, fitting))
    steps = _of_page(placed_steps(conversation), numbers, shown_page)
    fitting_steps = _fitting(steps, [len(step_text(step)) for step in steps], left)
    summary = conversation.longest_summary if first == 0 else None
    return HistoryPage.of(
        conversation_id=conversation.conversation_id,
        created_at=conversation.created_at,
        updated_at=conversation.updated_at,
        message_count=len(conversation.messages),
        parents=conversation.parents,
        related=conversation.related,
        archived_after=expiry and expiry.archived_after,
        forgotten_after=expiry and expiry.forgotten_after,
        summary=summary and summary.model_copy(update={"content": cut(summary.content, max(left, SUMMARY_CHARS))}),
        messages=tuple(page),
        unanswered_turns=fitting or None,
        workflow_steps=fitting_steps or None,
        pending_turn=conversation.pending_turn,
        offset=first,
        total_count=len(shown),
        has_more=first + len(page) < len(shown),
        notices=(
            *_cut_notices(wanted, page, max_chars, path),
            *_left_out(len(turns) - len(fitting), "unanswered question", path),
            *_left_out(len(steps) - len(fitting_steps), "workflow step", path),
        )
        or None,
        conversation_path=path,
    )


def _numbered(number: int, message: Message) -> NumberedMessage:
    facts = {name: getattr(message, name) for name in message.model_fields_set.intersection(Message.model_fields)}
    if sources := message.sources:
        facts["sources"] = without_snippets(sources)
    extra = message.model_extra or {}
    # An unknown field may be called as the number is.
    notes = {name: note for name, note in extra.items() if name not in NumberedMessage.model_fields}
    return NumberedMessage(number=number, **facts, **notes)


def _within(messages: Sequence[NumberedMessage], max_chars: int) -> list[NumberedMessage]:
    kept: list[NumberedMessage] = []
    left = max_chars
    for message in messages:
        if kept and _size(message) > left:
            break
        kept.append(message.model_copy(update={"content": cut(message.content, max(left, 0))}))
        left -= _size(message)
    return kept


def _size(message: NumberedMessage) -> int:
    """Return about how many characters a message takes, with the files that it names."""
    return len(message.content) + sum(len(named.path) + ATTACHED_CHARS for named in named_by(message))


def _size_of_turn(turn: PendingTurn) -> int:
    return len(turn.question) + len(turn.partial_text or "")


def _cut_notices(
    wanted: Sequence[NumberedMessage], page: Sequence[NumberedMessage], max_chars: int, path: str
) -> tuple[str, ...]:
    whole = sum(map(_size, wanted))
    if sum(map(_size, page)) == whole:
        return ()
    notice = (
        f"{len(page)} of {len(wanted)} messages are shown, up to {max_chars:,} of {whole:,} characters; "
        f"ask for the others with offset, or read {path}"
    )
    return (notice,)


def _of_page(entries: Iterable[tuple[int, EntryT]], shown_numbers: Sequence[int], page: range) -> list[EntryT]:
    found: list[EntryT] = []
    for number, entry in entries:
        before = bisect_right(shown_numbers, number)
        if max(before - 1, 0) in page or not shown_numbers:
            found.append(entry.model_copy(update={"after_message": number}))
    return found


def _fitting(entries: Sequence[EntryT], sizes: Sequence[int], max_chars: int) -> tuple[EntryT, ...]:
    """Return the last of the entries whose texts fit beside the messages."""
    count = sum(size <= max_chars for size in accumulate(reversed(sizes)))
    return tuple(entries[len(entries) - count :])


def _left_out(count: int, noun: str, path: str) -> tuple[str, ...]:
    are = "is" if count == 1 else "are"
    return (f"{counted(count, noun)} {are} left out here; read {path}",) if count else ()
