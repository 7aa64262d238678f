"""The tool `search_memories`."""

from time import perf_counter
from typing import Annotated

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.records.found import WantedMemories
from conversation_mcp.tooling.memories import MemoriesFound, render_found, shown
from conversation_mcp.tooling.memory_arguments import UpToHundred, home_of, since_of
from conversation_mcp.tooling.tags import Tags
from conversation_mcp.tooling.tool import AS_WRITTEN, READS, Input, Tool
from conversation_mcp.turns.ask import Caller

USUAL = 5


class SearchMemoriesInput(Input):
    """What to look for, and filters."""

    query: Annotated[str, AS_WRITTEN]
    """What to look for."""
    conversation_id: str | None = Field(default=None, alias="conversationId")
    """Only this conversation."""
    top_k: UpToHundred | None = Field(default=None, alias="topK")
    """How many; 5 if it is not said."""
    threshold: float | None = None
    """The least similarity."""
    tags: Tags = ()
    """All of these tags."""
    since: str | None = None
    """Stored since this date."""


async def search_memories(given: SearchMemoriesInput, app: App, caller: Caller) -> MemoriesFound:
    """Find memories by their words, and by their meaning where there is a model for it."""
    began = perf_counter()
    wanted = WantedMemories(
        query=given.query,
        conversation_id=home_of(given.conversation_id),
        tags=given.tags,
        since_milliseconds=since_of(given.since),
    )
    ranked, notices = await app.open_remembering().memories.search(
        wanted, given.top_k or USUAL, given.threshold, caller.report
    )
    return MemoriesFound.of(
        results=tuple(shown(each.found, each.similarity, each.by) for each in ranked),
        search_time_ms=round((perf_counter() - began) * 1000),
        notices=notices or None,
    )


SEARCH_MEMORIES = Tool(
    name="search_memories",
    run=search_memories,
    render=render_found,
    input_model=SearchMemoriesInput,
    title="",
    description="Find memories.",
    hints=READS,
)
