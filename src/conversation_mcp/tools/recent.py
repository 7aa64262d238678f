"""The tool `recent`."""

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.conversations.dialogue_pages import RecentMessages, recent_messages
from conversation_mcp.records.ids import check_id
from conversation_mcp.tooling.questions import ConversationIdArgument
from conversation_mcp.tooling.rendering.logged import render_recent
from conversation_mcp.tooling.tool import READS, Input, Tool
from conversation_mcp.turns.ask import Caller


class RecentInput(Input):
    """The conversation, and how much of it."""

    conversation_id: ConversationIdArgument
    max_tokens: int = Field(alias="maxTokens", ge=1, le=10_000_000)


async def recent(given: RecentInput, app: App, caller: Caller) -> RecentMessages:
    """Return the newest turns that fit."""
    from conversation_mcp.prompting.measure import Measure

    del caller
    conversation = await app.store.load(check_id(given.conversation_id))
    return recent_messages(conversation, given.max_tokens, Measure())


RECENT = Tool(
    name="recent",
    run=recent,
    render=render_recent,
    input_model=RecentInput,
    title="Recent messages",
    description=(
        "Return what the next prompt needs: the newest whole turns that fit into maxTokens, oldest first, and the "
        "summary of what came before if there is one."
    ),
    hints=READS,
)
