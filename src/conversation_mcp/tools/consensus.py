"""The tool `consensus`."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, WithJsonSchema

from conversation_mcp.app import App
from conversation_mcp.records.options import Options
from conversation_mcp.tooling.questions import AskingTool, put_question
from conversation_mcp.tooling.rendering.consensus import render_consensus
from conversation_mcp.tooling.sent_along import AttachedArguments
from conversation_mcp.tooling.tool import Input
from conversation_mcp.turns.ask import Ask, Caller, Seat
from conversation_mcp.turns.consensus_result import ConsensusResult
from conversation_mcp.turns.result import TurnResult

PRESET = "fast"
"""The preset for a provider that has presets but no known model."""
SHAPE = 'a list such as [{"model": "a", "stance": "for"}, {"model": "b", "stance": "against"}]'


class _GivenSeat(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)

    model: Annotated[str, Field(min_length=1)]
    stance: Literal["for", "against", "neutral"] = "neutral"
    stance_prompt: str | None = Field(default=None, alias="stancePrompt")


_SEATS = TypeAdapter(list[_GivenSeat])


def _seats(value: object) -> object:
    try:
        given = _SEATS.validate_python(json.loads(value) if isinstance(value, str) else value)
    except (ValidationError, ValueError, RecursionError):
        raise ValueError(f"must be {SHAPE}") from None
    return tuple(Seat(one.model, one.stance, one.stance_prompt or None) for one in given)


Seats = Annotated[
    tuple[Seat, ...],
    BeforeValidator(_seats),
    WithJsonSchema(
        {
            "type": "array",
            "minItems": 2,
            "maxItems": 10,
            "items": {
                "type": "object",
                "properties": {
                    "model": {"type": "string"},
                    "stance": {"enum": ["for", "against", "neutral"]},
                    "stancePrompt": {"type": "string"},
                },
                "required": ["model"],
            },
        }
    ),
]


class ConsensusInput(AttachedArguments, Input):
    """A question for several models."""

    prompt: Annotated[str, Field(description="The proposal or question, complete.")]
    models: Annotated[
        Seats, Field(description="Names as in list_models; stancePrompt replaces the stance with your own words.")
    ]
    conversation_id: str | None = Field(
        default=None, alias="conversationId", description="Any stored conversation; default: a new one."
    )
    synthesis: str | None = Field(default=None, description="A model that then sums up all verdicts.")


@dataclass(frozen=True, kw_only=True)
class ConsensusTool(AskingTool[ConsensusInput]):
    """A tool that asks several models."""

    render: Callable[[TurnResult], str] = render_consensus


async def consensus(given: ConsensusInput, app: App, caller: Caller) -> ConsensusResult:
    """Ask several models the same question, each on its own."""
    ask = Ask(
        tool=CONSENSUS.name,
        mode="chat",
        question=given.prompt,
        preset=PRESET,
        options=Options(),
        files=given.files,
        images=given.images,
        seats=given.models,
        synthesis=given.synthesis,
        question_name="prompt",
    )
    result = await put_question(ask, app, caller, given.conversation_id)
    return result if isinstance(result, ConsensusResult) else ConsensusResult.model_validate(result.data())


CONSENSUS = ConsensusTool(
    name="consensus",
    mode="chat",
    run=consensus,
    input_model=ConsensusInput,
    title="Consensus",
    description=(
        "Ask 2 to 10 models the same question side by side, each with a stance, none seeing another's verdict. "
        "Each sees the conversation; all verdicts are kept in it. One that fails is named, the rest stand."
    ),
)
