"""What a tool is: a value that the server can show and call, and that knows nothing of the SDK."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from conversation_mcp.app import App, ToolFacts
from conversation_mcp.records.models import Record
from conversation_mcp.turns.ask import Caller


@dataclass(frozen=True)
class Hints:
    """What a client may assume about a call, all four always said."""

    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool


ASKS = Hints(read_only=False, destructive=False, idempotent=False, open_world=True)
READS = Hints(read_only=True, destructive=False, idempotent=True, open_world=False)


class Input(BaseModel):
    """The arguments of a tool: known names only, each of its own type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)


AS_WRITTEN = object()
"""Marks an optional argument that is meant as it stands, where it is empty or a word such as null too."""

GivenT = TypeVar("GivenT", bound=Input)
ResultT = TypeVar("ResultT", bound=Record)


@dataclass(frozen=True, kw_only=True)
class Tool(ToolFacts, Generic[GivenT, ResultT]):
    """A tool: its words for the model, its arguments, what it does, and how its result reads."""

    run: Callable[[GivenT, App, Caller], Awaitable[ResultT]]
    render: Callable[[ResultT], str]
    input_model: type[GivenT]
    title: str
    description: str
    hints: Hints
    usage: str = ""
    """How it is used together with others, as the instructions of the server say it."""
    describes_filters: bool = False
    """Whether the filters of a search are described here; once is enough for all tools that have them."""
