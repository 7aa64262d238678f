"""The tool `chat`."""

from typing import Annotated

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.records.options import Effort, Options
from conversation_mcp.tooling.questions import with_next_step
from conversation_mcp.tooling.rendering.turns import render_turn
from conversation_mcp.tooling.tool import ASKS, Input, Tool
from conversation_mcp.turns.ask import Ask, Caller
from conversation_mcp.turns.result import TurnResult

PRESET = "fast"
"""What a provider that has presets is asked for, where no model of it is known."""


class ChatInput(Input):
    """A question for a model, in a conversation or as the first of one."""

    prompt: Annotated[str, Field(description="What to say.")]
    conversation_id: str | None = Field(
        default=None, alias="conversationId", description="Any stored conversation; default: a new one."
    )
    model: str | None = Field(default=None, description="Name, provider:model, or auto:fast, auto:balanced, auto:deep.")
    reasoning_effort: Effort | None = None
    """How hard the model thinks; more takes longer and costs more."""


async def chat(given: ChatInput, app: App, caller: Caller) -> TurnResult:
    """Say something to a model and keep what it answers."""
    ask = Ask(
        tool="chat",
        mode="chat",
        question=given.prompt,
        preset=PRESET,
        model=given.model,
        options=Options(reasoning_effort=given.reasoning_effort),
        question_name="prompt",
    )
    if given.conversation_id is None:
        return await with_next_step(await app.turns.start(ask, caller), app, "chat")
    return await with_next_step(await app.turns.follow_up(given.conversation_id, ask, caller), app, "chat")


CHAT = Tool(
    name="chat",
    run=chat,
    render=render_turn,
    input_model=ChatInput,
    title="Chat",
    description=(
        "Talk to a model without a search: in a new conversation, or in any stored one, searches and researches "
        "included, which it sees in full. Says which model answered."
    ),
    hints=ASKS,
)
