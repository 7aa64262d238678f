"""The tool `cancel_turn`."""

from conversation_mcp.app import App
from conversation_mcp.records.models import ConversationId
from conversation_mcp.tooling.questions import ConversationIdArgument
from conversation_mcp.tooling.rendering.tidied import render_stopped
from conversation_mcp.tooling.tidied import StoppedTurn
from conversation_mcp.tooling.tool import Hints, Input, Tool
from conversation_mcp.tooling.way_on import way_on_in
from conversation_mcp.turns.ask import Caller


class CancelInput(Input):
    """The conversation whose running question to stop."""

    conversation_id: ConversationIdArgument


async def cancel_turn(given: CancelInput, app: App, caller: Caller) -> StoppedTurn:
    """Stop the running question of a conversation."""
    await caller.report(f"{given.conversation_id} · stopping its question")
    conversation = await app.watch.stop(given.conversation_id)
    return StoppedTurn.of(
        conversation_id=conversation.conversation_id,
        pending_turn=conversation.pending_turn,
        message_count=len(conversation.messages),
        next_step=(await way_on_in(conversation, app)).sentence(conversation.conversation_id) or None,
        conversation_path=app.store.location(ConversationId(conversation.conversation_id)),
    )


CANCEL_TURN = Tool(
    name="cancel_turn",
    run=cancel_turn,
    render=render_stopped,
    input_model=CancelInput,
    title="Cancel a question",
    description=(
        "Stop the question of a conversation that is being answered, at its provider too. The question is kept; what "
        "the provider has done until then may be billed."
    ),
    hints=Hints(read_only=False, destructive=False, idempotent=True, open_world=True),
    steps={"stop": "cancel_turn"},
)
