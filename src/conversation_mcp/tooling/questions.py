"""The common part of the tools that ask: arguments, the question to the engine, and the next step of a result."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.records.modes import Mode
from conversation_mcp.records.options import Options, ResearchOptions, SearchFilters
from conversation_mcp.tooling.rendering.turns import render_turn
from conversation_mcp.tooling.sent_along import AttachedArguments, Continuing
from conversation_mcp.tooling.steps import steps_of
from conversation_mcp.tooling.tool import ASKS, GivenT, Hints, Input, Tool
from conversation_mcp.tooling.way_on import way_on
from conversation_mcp.turns.ask import Ask, Caller
from conversation_mcp.turns.kept import without_preset
from conversation_mcp.turns.result import TurnResult

ConversationIdArgument = Annotated[str, Field(alias="conversationId", description="Id from an earlier result.")]
Query = Annotated[str, Field(description="The question.")]


class AskingInput(Input):
    """The arguments of every question."""

    show_thinking: bool = Field(default=False, alias="showThinking", description="Also return the reasoning.")
    model: str | None = Field(default=None, description="Preset (fast to xhigh), provider/model, or local.")


class SearchInput(SearchFilters, AskingInput):
    """A question for a search."""

    query: Query


class ResearchInput(SearchFilters, ResearchOptions, AskingInput):
    """A question for a research."""

    query: Query


class FollowupInput(AttachedArguments, AskingInput):
    """A question in a conversation."""

    conversation_id: ConversationIdArgument


@dataclass(frozen=True, kw_only=True)
class AskingTool(Tool[GivenT, TurnResult]):
    """A tool that asks in a mode; its questions open conversations, follow up in them, or both."""

    mode: Mode = field()
    render: Callable[[TurnResult], str] = render_turn
    hints: Hints = ASKS


def ask_of(tool: AskingTool[Any], given: SearchInput | ResearchInput, preset: str) -> Ask:
    """Return the question for the turn engine, made from the arguments of a tool."""
    passed_on = given.model_dump(include=set(Options.model_fields), exclude_none=True)
    return Ask(
        tool=tool.name,
        mode=tool.mode,
        question=given.query,
        preset=preset,
        model=given.model,
        options=Options.model_construct(**passed_on),  # validated as arguments of the tool
        show_thinking=given.show_thinking,
        files=given.files if isinstance(given, AttachedArguments) else (),
        images=given.images if isinstance(given, AttachedArguments) else (),
        continue_from=given.continue_from if isinstance(given, Continuing) else None,
    )


async def put_question(ask: Ask, app: App, caller: Caller, conversation_id: str | None = None) -> TurnResult:
    """Ask the question in the conversation, or in a new one, and return the result with its next step.

    What the caller sends along with every question goes with it.
    """
    ask = ask._replace(files=(*ask.files, *caller.files), images=(*ask.images, *caller.images))
    if conversation_id is None:
        result = await app.turns.start(ask, caller)
    else:
        result = await app.turns.follow_up(conversation_id, ask, caller)
    return await with_next_step(result, app, ask.mode)


async def with_next_step(result: TurnResult, app: App, mode: Mode | None) -> TurnResult:
    """Return the result of a question in this mode with the sentence that names the next step."""
    return result.model_copy(update={"next_step": step}) if (step := await _next_step(result, app, mode)) else result


async def _next_step(result: TurnResult, app: App, mode: Mode | None) -> str:
    if result.status == "running":
        fetch = steps_of(app.tools).get("fetch")
        return f"Get the answer: {fetch.format(result.conversation_id)}." if fetch else ""
    model = without_preset(result.requested_model, result.preset)
    return (await way_on(mode, result.provider, model, app)).sentence(result.conversation_id)
