"""The tool `merge_conversations`."""

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.tools.following import way_on_in
from conversation_mcp.tools.rendering_tidied import render_tidied
from conversation_mcp.tools.tidied import TidiedConversation, tidied
from conversation_mcp.tools.tool import Hints, Input, Tool
from conversation_mcp.turns.asking import Caller

MAX_CONVERSATIONS = 20


class MergeInput(Input):
    """Which conversations, in which order."""

    conversation_ids: list[str] = Field(
        min_length=2,
        max_length=MAX_CONVERSATIONS,
        alias="conversationIds",
        description="Ids from earlier results, in the order in which their messages are to stand.",
    )


async def merge_conversations(given: MergeInput, app: App, caller: Caller) -> TidiedConversation:
    """Open a conversation with the messages of several others."""
    del caller
    merge, notices = await app.tidier.merge(given.conversation_ids)
    return tidied(merge, app, (await way_on_in(merge, app)).sentence(merge.conversation_id), notices)


MERGE_CONVERSATIONS = Tool(
    name="merge_conversations",
    run=merge_conversations,
    render=render_tidied,
    input_model=MergeInput,
    title="Merge conversations",
    description=(
        "Open a new conversation with the messages of two or more others, one after the other, under one system text, "
        "to go on with what all of them know. The originals stay as they are. Asks nothing."
    ),
    hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=False),
)
