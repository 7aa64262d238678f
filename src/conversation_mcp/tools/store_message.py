"""The tool `store_message`."""

from conversation_mcp.app import App
from conversation_mcp.tooling.logged import MessageInput, StoredMessage, stored
from conversation_mcp.tooling.questions import ConversationIdArgument
from conversation_mcp.tooling.rendering.logged import render_stored
from conversation_mcp.tooling.tool import Hints, Tool
from conversation_mcp.turns.ask import Caller


class StoreInput(MessageInput):
    """A message, and its conversation."""

    conversation_id: ConversationIdArgument


async def store_message(given: StoreInput, app: App, caller: Caller) -> StoredMessage:
    """Log one message."""
    del caller
    added, notices = await app.dialogues.add(given.conversation_id, [given.message()])
    await app.has_texts()
    return stored(added, given.conversation_id, notices)[0]


STORE_MESSAGE = Tool(
    name="store_message",
    run=store_message,
    render=render_stored,
    input_model=StoreInput,
    title="Store a message",
    description=(
        "Add a message to a conversation; nobody is asked. The same clientMessageId again stores nothing and returns "
        "the first result."
    ),
    hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=False),
)
