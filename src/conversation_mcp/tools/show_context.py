"""The tool `show_context`."""

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.tooling.questions import ConversationIdArgument
from conversation_mcp.tooling.rendering.context import render_context
from conversation_mcp.tooling.tool import READS, Input, Tool
from conversation_mcp.turns.ask import Caller
from conversation_mcp.turns.preview import ShownContext


class ShowContextInput(Input):
    """The conversation, and the model that would be asked."""

    conversation_id: ConversationIdArgument
    model: str | None = Field(default=None, description="As in chat.")
    exact: bool = Field(
        default=False,
        description="Have the provider count the tokens, which sends it the conversation. Not all can.",
    )


async def show_context(given: ShowContextInput, app: App, caller: Caller) -> ShownContext:
    """Return what the next question would carry."""
    del caller
    return await app.preview.show(given.conversation_id, given.model, is_exact=given.exact)


SHOW_CONTEXT = Tool(
    name="show_context",
    run=show_context,
    render=render_context,
    input_model=ShowContextInput,
    title="Show context",
    description="Show what the next question of a conversation carries, message by message: tokens, price, left out.",
    # With `exact`, the provider counts.
    hints=READS._replace(open_world=True),
)
