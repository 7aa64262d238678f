"""The tool `branch_conversation`."""

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.tooling.questions import ConversationIdArgument
from conversation_mcp.tooling.rendering.tidied import render_tidied
from conversation_mcp.tooling.tidied import TidiedConversation, tidied
from conversation_mcp.tooling.tool import Hints, Input, Tool
from conversation_mcp.tooling.way_on import way_on_in
from conversation_mcp.turns.ask import Caller


class BranchInput(Input):
    """The conversation to branch, and the last message to keep."""

    conversation_id: ConversationIdArgument
    message_number: int = Field(
        ge=1,
        alias="messageNumber",
        description="The last message to take along, an answer, by its number in the history.",
    )


async def branch_conversation(given: BranchInput, app: App, caller: Caller) -> TidiedConversation:
    """Open a conversation with the first messages of another one."""
    del caller
    branch = await app.tidier.branch(given.conversation_id, given.message_number)
    await app.has_texts()
    return tidied(branch, app, (await way_on_in(branch, app)).sentence(branch.conversation_id))


BRANCH_CONVERSATION = Tool(
    name="branch_conversation",
    run=branch_conversation,
    render=render_tidied,
    input_model=BranchInput,
    title="Branch a conversation",
    description=(
        "Open a new conversation with the messages of another one up to an answer, to go on from there in another way. "
        "The original stays as it is. Asks nothing."
    ),
    hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=False),
)
