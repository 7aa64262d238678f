"""The results of the tools that organize conversations."""

from pydantic import JsonValue

from conversation_mcp.app import App
from conversation_mcp.conversations.trash_can import TrashedConversation
from conversation_mcp.records.models import Conversation, ConversationId, PendingTurn
from conversation_mcp.records.record import Record
from conversation_mcp.records.titles import title_of_conversation


class TidiedConversation(Record):
    """A conversation as it is now, without its messages."""

    conversation_id: str
    """Its id."""
    title: str
    """The title that was set, or else the first question, cut at a word."""
    tags: tuple[str, ...] | None = None
    """Its tags."""
    archived: bool | None = None
    """Whether it is archived."""
    parent: dict[str, JsonValue] | None = None
    """The conversation that it was branched from, and how many messages it has from there."""
    parents: tuple[dict[str, JsonValue], ...] | None = None
    """Of a merge: the conversations that it was merged from, and how many messages each contributed."""
    notices: tuple[str, ...] | None = None
    """What was left out."""
    message_count: int
    """The number of its messages, the system message included."""
    updated_at: str
    """When its file was last written."""
    next_step: str | None = None
    """The last sentence of the text: how to continue."""
    conversation_path: str
    """The absolute path of conversation.json."""


class StoppedTurn(Record):
    """The outcome of stopping a question."""

    conversation_id: str
    """The id that was given."""
    pending_turn: PendingTurn | None = None
    """The question, with its cost and the text so far; absent if its answer came first and is kept."""
    message_count: int
    """The number of messages of the conversation, the system message included."""
    next_step: str | None = None
    """The last sentence of the text: how to continue."""
    conversation_path: str
    """The absolute path of conversation.json."""


class DeletedConversation(TrashedConversation):
    """A conversation that was moved to the trash."""

    next_step: str
    """The last sentence of the text: how to restore it."""


def tidied(
    conversation: Conversation, app: App, next_step: str = "", notices: tuple[str, ...] = ()
) -> TidiedConversation:
    """Return the facts of a changed conversation."""
    return TidiedConversation.of(
        conversation_id=conversation.conversation_id,
        title=title_of_conversation(conversation),
        tags=conversation.tags,
        archived=conversation.archived,
        parent=conversation.parent,
        parents=conversation.parents,
        notices=notices or None,
        message_count=len(conversation.messages),
        updated_at=conversation.updated_at,
        next_step=next_step or None,
        conversation_path=app.store.location(ConversationId(conversation.conversation_id)),
    )
