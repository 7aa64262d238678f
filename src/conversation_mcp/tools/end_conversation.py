"""The tool `end_conversation`."""

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.records.titles import title_of_conversation
from conversation_mcp.tooling.memories import KeptDecision, OpenedConversation, render_opened
from conversation_mcp.tooling.tool import Hints, Input, Tool
from conversation_mcp.turns.ask import Caller


class EndConversationInput(Input):
    """The conversation, and what came of it."""

    conversation_id: str = Field(alias="conversationId")
    summary: str | None = None
    """What came of it."""


async def end_conversation(given: EndConversationInput, app: App, caller: Caller) -> OpenedConversation:
    """Complete a conversation, then have its decisions looked for if the settings name a model for that."""
    del caller
    ended, notices = await app.open_remembering().opening.end(given.conversation_id, given.summary)
    await app.library.take_in()
    kept: tuple[KeptDecision, ...] = ()
    if (decisions := app.decisions) is not None:
        found = await decisions.propose(ended.conversation_id, app.settings.answer_wait_seconds)
        notices = (*notices, *found.notices)
        kept = tuple(
            KeptDecision.of(
                memory_id=each.id,
                content=each.content,
                message_number=each.message_number,
                proposed_by=each.model or each.provider,
            )
            for each in found.memories
        )
    return OpenedConversation.of(
        conversation_id=ended.conversation_id,
        status="completed",
        title=title_of_conversation(ended),
        created_at=ended.created_at,
        ended_at=ended.ended_at,
        summary=ended.closing_summary,
        decisions=kept or None,
        notices=notices or None,
    )


END_CONVERSATION = Tool(
    name="end_conversation",
    run=end_conversation,
    render=render_opened,
    input_model=EndConversationInput,
    title="",
    description="Complete it; a question reopens it.",
    # A model may be asked for the decisions.
    hints=Hints(read_only=False, destructive=False, idempotent=True, open_world=True),
)
