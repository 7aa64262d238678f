"""The tool `init_conversation`."""

from conversation_mcp.app import App
from conversation_mcp.records.titles import title_of_conversation
from conversation_mcp.tooling.memories import OpenedConversation, render_opened
from conversation_mcp.tooling.tool import Hints, Input, Tool
from conversation_mcp.turns.ask import Caller


class InitConversationInput(Input):
    """The name of the conversation."""

    name: str | None = None
    """Its title."""


async def init_conversation(given: InitConversationInput, app: App, caller: Caller) -> OpenedConversation:
    """Open a conversation without messages, for memories and later questions."""
    del caller
    opened, notices = await app.open_remembering().opening.open(given.name)
    await app.library.take_in()
    return OpenedConversation.of(
        conversation_id=opened.conversation_id,
        status="created",
        title=title_of_conversation(opened),
        created_at=opened.created_at,
        notices=notices or None,
    )


INIT_CONVERSATION = Tool(
    name="init_conversation",
    run=init_conversation,
    render=render_opened,
    input_model=InitConversationInput,
    title="",
    description="Open an empty conversation.",
    hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=False),
)
