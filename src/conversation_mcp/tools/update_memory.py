"""The tool `update_memory`."""

from typing import Annotated

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.tooling.memories import MemoriesFound, render_found, shown
from conversation_mcp.tooling.memory_arguments import Metadata
from conversation_mcp.tooling.tags import Tags
from conversation_mcp.tooling.tool import AS_WRITTEN, Hints, Input, Tool
from conversation_mcp.turns.ask import Caller


class UpdateMemoryInput(Input):
    """The memory, and its new values."""

    memory_id: str = Field(alias="memoryId")
    conversation_id: str = Field(alias="conversationId")
    content: str | None = None
    """The new text."""
    tags: Annotated[Tags | None, AS_WRITTEN] = None
    """All its tags."""
    metadata: Metadata | None = None
    """All its further facts."""


async def update_memory(given: UpdateMemoryInput, app: App, caller: Caller) -> MemoriesFound:
    """Change a memory and return it."""
    del caller
    if given.content is None and given.tags is None and given.metadata is None:
        raise InvalidInputError("update_memory needs content, tags or metadata.")
    found, notices = await app.open_remembering().memories.update(
        given.memory_id, given.conversation_id, content=given.content, tags=given.tags, metadata=given.metadata
    )
    return MemoriesFound.of(results=(shown(found),), notices=notices or None)


UPDATE_MEMORY = Tool(
    name="update_memory",
    run=update_memory,
    render=render_found,
    input_model=UpdateMemoryInput,
    title="",
    description="What is not given stays.",
    hints=Hints(read_only=False, destructive=True, idempotent=True, open_world=False),
)
