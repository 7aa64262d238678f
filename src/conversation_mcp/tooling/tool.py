"""The type of a tool: a value that the server lists and calls, independent of the SDK."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict

from conversation_mcp.app import App, ToolFacts
from conversation_mcp.records.record import Record
from conversation_mcp.turns.ask import Caller


class Hints(NamedTuple):
    """What a client may assume about a call; all four are always sent, because the protocol's defaults differ."""

    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool


ASKS = Hints(read_only=False, destructive=False, idempotent=False, open_world=True)
READS = Hints(read_only=True, destructive=False, idempotent=True, open_world=False)


class Input(BaseModel):
    """The arguments of a tool; unknown names and values of another type are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True, defer_build=True)


AS_WRITTEN = object()
"""Marks an optional argument whose value counts literally, even if it is empty or a word such as null."""

GivenT = TypeVar("GivenT", bound=Input)
ResultT = TypeVar("ResultT", bound=Record)


@dataclass(frozen=True, kw_only=True)
class Tool(ToolFacts, Generic[GivenT, ResultT]):
    """A tool: its description for models, its arguments, what it does, and how its result reads."""

    run: Callable[[GivenT, App, Caller], Awaitable[ResultT]]
    render: Callable[[ResultT], str]
    input_model: type[GivenT]
    title: str
    """Its name for people; empty if that is `name`."""
    description: str
    hints: Hints
    usage: str = ""
    """The sentence in the server's instructions about its use together with others."""
    describes: frozenset[type[BaseModel]] = frozenset()
    """The groups of arguments that its schema describes for all tools that share them."""
