"""The tool `delete_memory`."""

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.tooling.memories import ForgottenMemory, render_forgotten
from conversation_mcp.tooling.tool import Hints, Input, Tool
from conversation_mcp.turns.ask import Caller


class DeleteMemoryInput(Input):
    """The memory to forget."""

    memory_id: str = Field(alias="memoryId")
    conversation_id: str = Field(alias="conversationId")


async def delete_memory(given: DeleteMemoryInput, app: App, caller: Caller) -> ForgottenMemory:
    """Forget it for good."""
    del caller
    conversation = await app.open_remembering().memories.delete(given.memory_id, given.conversation_id)
    return ForgottenMemory(
        memory_id=given.memory_id,
        conversation_id=conversation.conversation_id,
        memory_count=len(conversation.memories or ()),
    )


DELETE_MEMORY = Tool(
    name="delete_memory",
    run=delete_memory,
    render=render_forgotten,
    input_model=DeleteMemoryInput,
    title="",
    description="Forget it for good.",
    hints=Hints(read_only=False, destructive=True, idempotent=False, open_world=False),
)
