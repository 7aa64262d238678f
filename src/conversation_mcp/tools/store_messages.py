"""The tool `store_messages`."""

from conversation_mcp.app import App
from conversation_mcp.tooling.logged import Messages, StoredMessages, stored
from conversation_mcp.tooling.questions import ConversationIdArgument
from conversation_mcp.tooling.rendering.logged import render_all_stored
from conversation_mcp.tooling.tool import Hints, Input, Tool
from conversation_mcp.turns.ask import Caller


class StoreAllInput(Input):
    """Messages, and their conversation."""

    conversation_id: ConversationIdArgument
    messages: Messages


async def store_messages(given: StoreAllInput, app: App, caller: Caller) -> StoredMessages:
    """Log several messages in one write."""
    del caller
    new = [message.message(f"messages[{place}].content") for place, message in enumerate(given.messages)]
    added, notices = await app.dialogues.add(given.conversation_id, new)
    await app.has_texts()
    return StoredMessages.of(
        conversation_id=given.conversation_id,
        status="stored",
        messages=stored(added, given.conversation_id),
        notices=notices or None,
    )


STORE_MESSAGES = Tool(
    name="store_messages",
    run=store_messages,
    render=render_all_stored,
    input_model=StoreAllInput,
    title="Store messages",
    description="store_message for a list of {role, content, metadata, clientMessageId}, all of it or none.",
    hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=False),
)
