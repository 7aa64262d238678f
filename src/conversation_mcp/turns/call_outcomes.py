"""The outcomes of a call that was made before."""

from dataclasses import dataclass
from typing import NamedTuple

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.stores.base import Call
from conversation_mcp.turns.result import TurnResult


class Delivered(NamedTuple):
    """The call has its answer; this is the result."""

    call: Call
    result: TurnResult


class Running(NamedTuple):
    """Another process works on the call, or its run continues at the provider."""

    call: Call | None = None
    """None until the process that has the name has recorded where the question will be."""
    is_asked: bool = False
    """Whether the question is on disk."""


@dataclass(frozen=True)
class Free:
    """The call was never made, or its outcome has been delivered."""


class Dead(NamedTuple):
    """The call ended without an answer."""

    call: Call
    is_failed_start: bool
    """Whether it left a conversation that contains nothing else."""
    error: ConversationMCPError | None
    """The error that its caller must see before the question is asked again."""
    goes_on: bool = False
    """Whether asking again takes up what it left."""


CallOutcome = Delivered | Running | Free | Dead
