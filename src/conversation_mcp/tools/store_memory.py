"""The tool `store_memory`."""

from typing import Annotated

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.tooling.memories import StoredMemory, render_stored, stored
from conversation_mcp.tooling.memory_arguments import Embedding, Metadata
from conversation_mcp.tooling.tags import Tags
from conversation_mcp.tooling.tool import AS_WRITTEN, Hints, Input, Tool
from conversation_mcp.turns.ask import Caller


class StoreMemoryInput(Input):
    """The text to keep, and where it belongs."""

    content: Annotated[str, AS_WRITTEN]
    """What to remember."""
    conversation_id: str | None = Field(default=None, alias="conversationId")
    """The conversation that it belongs to; one of its own if none is named."""
    message_number: int | None = Field(default=None, alias="messageNumber")
    """The message that it came from."""
    tags: Tags = ()
    """Words to filter by."""
    metadata: Metadata | None = None
    """Further facts."""
    embedding: Embedding | None = None
    """The vector of the text, for programs that use the server's own model for vectors."""


async def store_memory(given: StoreMemoryInput, app: App, caller: Caller) -> StoredMemory:
    """Keep a memory, and name those that say nearly the same."""
    del caller
    kept = await app.open_remembering().memories.store(
        given.content,
        app.open_remembering().anonymous_id,
        conversation_id=given.conversation_id,
        message_number=given.message_number,
        tags=given.tags,
        metadata=given.metadata,
        embedding=given.embedding or (),
    )
    return stored(kept)


STORE_MEMORY = Tool(
    name="store_memory",
    run=store_memory,
    render=render_stored,
    input_model=StoreMemoryInput,
    title="",
    description="Remember a text.",
    hints=Hints(read_only=False, destructive=False, idempotent=True, open_world=False),
    usage="search_memories and get_context find what was remembered in any conversation.",
)
