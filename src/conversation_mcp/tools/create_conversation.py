"""The tool `create_conversation`."""

from conversation_mcp.app import App
from conversation_mcp.records.models import ConversationId
from conversation_mcp.tooling.logged import CreatedConversation, Metadata, created
from conversation_mcp.tooling.rendering.logged import render_created
from conversation_mcp.tooling.tool import Hints, Input, Tool
from conversation_mcp.turns.ask import Caller


class CreateInput(Input):
    """What the new conversation is called, and facts about it."""

    title: str | None = None
    metadata: Metadata | None = None


async def create_conversation(given: CreateInput, app: App, caller: Caller) -> CreatedConversation:
    """Start an empty conversation."""
    del caller

    async def is_free(conversation_id: ConversationId) -> bool:
        # It is reserved here by now, so its own home holds it.
        return app.homes is None or await app.holders(conversation_id) == [app.owner]

    conversation, notices = await app.dialogues.create(given.title, given.metadata, is_free)
    return created(conversation, app.owner, notices)


CREATE_CONVERSATION = Tool(
    name="create_conversation",
    run=create_conversation,
    render=render_created,
    input_model=CreateInput,
    title="Create a conversation",
    description="Open an empty conversation of a user, for a chatbot that logs its own messages.",
    hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=False),
)
