"""The tool `delete_conversation`."""

from conversation_mcp.app import App
from conversation_mcp.tooling.questions import ConversationIdArgument
from conversation_mcp.tooling.rendering.tidied import render_deleted
from conversation_mcp.tooling.tidied import DeletedConversation
from conversation_mcp.tooling.tool import Hints, Input, Tool
from conversation_mcp.turns.ask import Caller


class DeleteInput(Input):
    """The conversation to delete."""

    conversation_id: ConversationIdArgument


async def delete_conversation(given: DeleteInput, app: App, caller: Caller) -> DeletedConversation:
    """Move a conversation to the trash."""
    trashed = await app.trash.facts_of(await app.tidier.delete(given.conversation_id, caller.report))
    return DeletedConversation(
        **trashed.data(),
        next_step=f"It is in the trash; `conversation-mcp trash restore {trashed.conversation_id}` brings it back.",
    )


DELETE_CONVERSATION = Tool(
    name="delete_conversation",
    run=delete_conversation,
    render=render_deleted,
    input_model=DeleteInput,
    title="Delete a conversation",
    description=(
        "Move a conversation to the trash, from where a person can bring it back. Waits for its running question; "
        "branches of it stay."
    ),
    hints=Hints(read_only=False, destructive=True, idempotent=True, open_world=False),
)
