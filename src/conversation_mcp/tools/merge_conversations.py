"""The tool `merge_conversations`."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from conversation_mcp.app import App
from conversation_mcp.records.options import text_list
from conversation_mcp.tooling.rendering.tidied import render_tidied
from conversation_mcp.tooling.tidied import TidiedConversation, tidied
from conversation_mcp.tooling.tool import Hints, Input, Tool
from conversation_mcp.tooling.way_on import way_on_in
from conversation_mcp.turns.ask import Caller

MIN_CONVERSATIONS, MAX_CONVERSATIONS = 2, 20


def _ids(value: object) -> object:
    wanted = f"{MIN_CONVERSATIONS} to {MAX_CONVERSATIONS} ids"
    ids = text_list(value, wanted)
    if MIN_CONVERSATIONS <= len(ids) <= MAX_CONVERSATIONS:
        return ids
    raise ValueError(f"must be a list of {wanted}; got {len(ids)}")


class MergeInput(Input):
    """The conversations to merge, in order."""

    conversation_ids: Annotated[list[str], BeforeValidator(_ids)] = Field(
        # The lengths are for the schema; `_ids` checks them with a better message.
        min_length=MIN_CONVERSATIONS,
        max_length=MAX_CONVERSATIONS,
        alias="conversationIds",
        description="Ids from earlier results, in the order in which their messages are to stand.",
    )


async def merge_conversations(given: MergeInput, app: App, caller: Caller) -> TidiedConversation:
    """Open a conversation with the messages of several others."""
    del caller
    merge, notices = await app.tidier.merge(given.conversation_ids)
    await app.has_texts()
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
