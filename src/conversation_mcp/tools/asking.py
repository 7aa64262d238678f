"""What the asking tools share: their common arguments and the sentence that says how to go on."""

from typing import Annotated

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.errors import Tools
from conversation_mcp.providers.base import Mode
from conversation_mcp.providers.options import Options, ResearchOptions, SearchFilters
from conversation_mcp.tools.tool import Input
from conversation_mcp.turns.asking import Ask
from conversation_mcp.turns.result import TurnResult

FOLLOW_UPS = ("search_followup", "deep_research_followup", "chat")

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


def with_next_step(result: TurnResult, app: App) -> TurnResult:
    """Return the result with the sentence that says how to go on."""
    return result.model_copy(update={"next_step": step}) if (step := _next_step(result, app.tools)) else result


def _next_step(result: TurnResult, tools: Tools) -> str:
    if result.status == "running":
        if "get_conversation_history" in tools:
            return (
                f"Get the answer: get_conversation_history with conversationId {result.conversation_id} "
                "and waitSeconds 50."
            )
        return ""
    return following_up(result.conversation_id, tools)


def following_up(conversation_id: str, tools: Tools) -> str:
    """Return the sentence that names the tools for the next question; empty when none is switched on."""
    names = " or ".join(name for name in FOLLOW_UPS if name in tools)
    return f"Follow up: {names} with conversationId {conversation_id}." if names else ""
