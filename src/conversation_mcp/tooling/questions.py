"""What the asking tools share: their common arguments and the sentence that says how to go on."""

from typing import Annotated

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.providers.base import Mode
from conversation_mcp.records.options import Options, ResearchOptions, SearchFilters
from conversation_mcp.tooling.tool import Input
from conversation_mcp.tooling.way_on import way_on
from conversation_mcp.turns.ask import Ask
from conversation_mcp.turns.kept import without_preset
from conversation_mcp.turns.result import TurnResult

ConversationIdArgument = Annotated[str, Field(alias="conversationId", description="Id from an earlier result.")]
Query = Annotated[str, Field(description="The question.")]


class AskingInput(Input):
    """What every question can carry."""

    show_thinking: bool = Field(default=False, alias="showThinking", description="Also return the model's reasoning.")
    model: str | None = Field(default=None, description="Preset (fast to xhigh), provider/model, or local.")


class SearchInput(SearchFilters, AskingInput):
    """A question for a search."""

    query: Query


class ResearchInput(SearchFilters, ResearchOptions, AskingInput):
    """A question for a research."""

    query: Query


def ask_of(given: SearchInput | ResearchInput, *, tool: str, mode: Mode, preset: str) -> Ask:
    """Return the question that the engine takes from the arguments of a tool."""
    passed_on = given.model_dump(include=set(Options.model_fields), exclude_none=True)
    return Ask(
        tool=tool,
        mode=mode,
        question=given.query,
        preset=preset,
        model=given.model,
        options=Options.model_construct(**passed_on),
        show_thinking=given.show_thinking,
    )


async def with_next_step(result: TurnResult, app: App, tool: str | None) -> TurnResult:
    """Return the result of the tool with the sentence that says how to go on."""
    return result.model_copy(update={"next_step": step}) if (step := await _next_step(result, app, tool)) else result


async def _next_step(result: TurnResult, app: App, tool: str | None) -> str:
    if result.status == "running":
        if "get_conversation_history" in app.tools:
            return (
                f"Get the answer: get_conversation_history with conversationId {result.conversation_id} "
                "and waitSeconds 50."
            )
        return ""
    model = without_preset(result.requested_model, result.preset)
    return (await way_on(tool, result.provider, model, app)).sentence(result.conversation_id)
