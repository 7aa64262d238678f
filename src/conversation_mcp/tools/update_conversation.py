"""The tool `update_conversation`."""

from typing import Annotated

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.conversations.labels import Retag
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.tooling.questions import ConversationIdArgument
from conversation_mcp.tooling.rendering.tidied import render_tidied
from conversation_mcp.tooling.tags import Tags
from conversation_mcp.tooling.tidied import TidiedConversation, tidied
from conversation_mcp.tooling.tool import AS_WRITTEN, Hints, Input, Tool
from conversation_mcp.turns.ask import Caller


class UpdateInput(Input):
    """The conversation, and the new values of what to change."""

    conversation_id: ConversationIdArgument
    title: Annotated[str | None, AS_WRITTEN] = Field(
        default=None, description="Empty: the first question stands for it again."
    )
    tags: Annotated[Tags | None, AS_WRITTEN] = Field(
        default=None, description="All its tags, in place of those it has."
    )
    archived: bool | None = Field(default=None, description="Whether lists leave it out; a question brings it back.")


async def update_conversation(given: UpdateInput, app: App, caller: Caller) -> TidiedConversation:
    """Change the title, the tags or the archived state of a conversation."""
    del caller
    if given.title is None and given.tags is None and given.archived is None:
        raise InvalidInputError("update_conversation needs title, tags or archived.")
    tags = given.tags
    retag: Retag | None = None if tags is None else lambda _: tags
    updated, notices = await app.tidier.update(
        given.conversation_id, title=given.title, retag=retag, archived=given.archived
    )
    return tidied(updated, app, notices=notices)


UPDATE_CONVERSATION = Tool(
    name="update_conversation",
    run=update_conversation,
    render=render_tidied,
    input_model=UpdateInput,
    title="Update a conversation",
    description="Set the title or the tags of a conversation, or put it away. Its messages stay as they are.",
    hints=Hints(read_only=False, destructive=False, idempotent=True, open_world=False),
)
