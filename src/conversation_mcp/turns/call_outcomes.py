"""What becomes of a call that was made before."""

from dataclasses import dataclass

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.stores.base import Call
from conversation_mcp.turns.result import TurnResult


@dataclass(frozen=True)
class Delivered:
    """It has its answer, and this is the result."""

    call: Call
    result: TurnResult


@dataclass(frozen=True)
class Running:
    """Another process works on it, or its run goes on at the provider."""

    call: Call | None = None
    """None while whoever has the name has not written where the question will be."""
    is_asked: bool = False
    """Whether its question is on disk."""


@dataclass(frozen=True)
class Free:
    """Nobody has made it, or its outcome was told."""


@dataclass(frozen=True)
class Dead:
    """It ended without an answer."""

    call: Call
    is_failed_start: bool
    """Whether it left a conversation in which nothing else was asked."""
    error: ConversationMCPError | None
    """What its caller must hear of it before the question is asked again."""


CallOutcome = Delivered | Running | Free | Dead
