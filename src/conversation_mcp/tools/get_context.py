"""The tool `get_context`."""

from typing import Annotated

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.tooling.memories import KnownContext, KnownPlace, render_known
from conversation_mcp.tooling.memory_arguments import Tokens
from conversation_mcp.tooling.tool import AS_WRITTEN, READS, Input, Tool
from conversation_mcp.turns.ask import Caller

USUAL_TOKENS = 2_000


class GetContextInput(Input):
    """What to tell about, and how much."""

    query: Annotated[str, AS_WRITTEN]
    """What to tell about."""
    max_tokens: Tokens | None = Field(default=None, alias="maxTokens")
    """The most tokens; 2,000 if it is not said."""


async def get_context(given: GetContextInput, app: App, caller: Caller) -> KnownContext:
    """Gather what is known of something, each text once, with its place."""
    del caller
    known, left_out = await app.open_remembering().knowledge.of(given.query, given.max_tokens or USUAL_TOKENS)
    places = (KnownPlace.of(**each._asdict()) for each in known)
    return KnownContext.of(results=tuple(places), left_out_count=left_out or None)


GET_CONTEXT = Tool(
    name="get_context",
    run=get_context,
    render=render_known,
    input_model=GetContextInput,
    title="",
    description="What is known of something.",
    hints=READS,
)
