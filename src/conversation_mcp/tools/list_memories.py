"""The tool `list_memories`."""

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.records.found import WantedMemories
from conversation_mcp.tooling.memories import MemoriesFound, render_found, shown
from conversation_mcp.tooling.memory_arguments import home_of
from conversation_mcp.tooling.tool import READS, Input, Tool
from conversation_mcp.turns.ask import Caller

PAGE = 20


class ListMemoriesInput(Input):
    """Filters, and the page."""

    conversation_id: str | None = Field(default=None, alias="conversationId")
    """Only this conversation."""
    offset: int = 0
    """How many to skip; a page has 20."""


async def list_memories(given: ListMemoriesInput, app: App, caller: Caller) -> MemoriesFound:
    """Newest first."""
    wanted = WantedMemories(conversation_id=home_of(given.conversation_id))
    page = await app.open_remembering().memories.page(wanted, PAGE, max(0, given.offset), caller.report)
    return MemoriesFound.of(results=tuple(map(shown, page.found)), has_more=page.has_more, notices=page.notices or None)


LIST_MEMORIES = Tool(
    name="list_memories",
    run=list_memories,
    render=render_found,
    input_model=ListMemoriesInput,
    title="",
    description="Newest first.",
    hints=READS,
)
