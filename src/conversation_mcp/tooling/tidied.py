"""What the tools that put conversations in order give back."""

from pydantic import JsonValue

from conversation_mcp.app import App
from conversation_mcp.conversations.trash_can import TrashedConversation
from conversation_mcp.records.models import Conversation, ConversationId, PendingTurn, Record
from conversation_mcp.records.titles import title_of_conversation


class TidiedConversation(Record):
    """A conversation as it is now, without its messages."""

    conversation_id: str
    """Its id."""
    title: str
    """The title that was set, else the first question up to a word."""
    tags: tuple[str, ...] | None = None
    """Its tags."""
    archived: bool | None = None
    """Whether it is put away."""
    parent: dict[str, JsonValue] | None = None
    """The conversation that it was branched from, and how many messages it has from there."""
    parents: tuple[dict[str, JsonValue], ...] | None = None
    """Of a merge: the conversations whose messages stand in it, and how many each has given."""
    notices: tuple[str, ...] | None = None
    """What did not come along."""
    message_count: int
    """All its messages, the system message included."""
    updated_at: str
    """When its file was last written."""
    next_step: str | None = None
    """The sentence that ends the text: how to go on."""
    conversation_path: str
    """The absolute path of conversation.json."""


class StoppedTurn(Record):
    """What became of a question that was to be stopped."""

    conversation_id: str
    """The id that was given."""
    pending_turn: PendingTurn | None = None
    """The question, with what was charged and the text so far; absent when its answer was faster and is kept."""
    message_count: int
    """All messages of the conversation, the system message included."""
    next_step: str | None = None
    """The sentence that ends the text: how to go on."""
    conversation_path: str
    """The absolute path of conversation.json."""


class DeletedConversation(TrashedConversation):
    """A conversation that was moved to the trash."""

    next_step: str
    """The sentence that ends the text: how it comes back."""


def tidied(
    conversation: Conversation, app: App, next_step: str = "", notices: tuple[str, ...] = ()
) -> TidiedConversation:
    """Return the facts of a conversation that was changed."""
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
