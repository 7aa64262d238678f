"""The tool `chat`."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from conversation_mcp.app import App
from conversation_mcp.errors import Argument, InvalidInputError
from conversation_mcp.records.options import Effort, Options
from conversation_mcp.tooling.questions import AskingTool, put_question
from conversation_mcp.tooling.sent_along import AttachedArguments, Continuing
from conversation_mcp.tooling.tool import Input
from conversation_mcp.turns.ask import Ask, Caller
from conversation_mcp.turns.result import TurnResult

PRESET = "fast"
"""The preset for a provider that has presets but no known model."""


class ChatInput(AttachedArguments, Continuing, Input):
    """A prompt for a model, in a stored conversation or a new one."""

    prompt: Annotated[str, Field(description="What to say.")]
    conversation_id: str | None = Field(
        default=None, alias="conversationId", description="Any stored conversation; default: a new one."
    )
    model: str | None = Field(default=None, description="Name, provider:model, or auto:fast, auto:balanced, auto:deep.")
    reasoning_effort: Effort | None = None
    """How hard the model thinks; more takes longer and costs more."""

    @model_validator(mode="after")
    def _opens_or_follows(self) -> Self:
        if self.conversation_id and self.continue_from:
            raise InvalidInputError(
                Argument("continueFrom"),
                " opens a new conversation and ",
                Argument("conversationId"),
                " asks in a stored one: give one of them.",
            )
        return self


async def chat(given: ChatInput, app: App, caller: Caller) -> TurnResult:
    """Send a prompt to a model and keep the answer."""
    ask = Ask(
        tool=CHAT.name,
        mode=CHAT.mode,
        question=given.prompt,
        preset=PRESET,
        model=given.model,
        options=Options(reasoning_effort=given.reasoning_effort),
        files=given.files,
        images=given.images,
        continue_from=given.continue_from,
        question_name="prompt",
    )
    return await put_question(ask, app, caller, given.conversation_id)


CHAT = AskingTool(
    name="chat",
    mode="chat",
    opens=True,
    follows=True,
    describes=frozenset({AttachedArguments, Continuing}),
    run=chat,
    input_model=ChatInput,
    title="Chat",
    description=(
        "Talk to a model without a search: in a new conversation, or in any stored one, searches and researches "
        "included, which it sees in full. Says which model answered."
    ),
    usage="chat opens one too, or goes on in any of them with the model that you name; list_models shows the models.",
)
