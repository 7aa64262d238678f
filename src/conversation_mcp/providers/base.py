"""The port of a provider: an answer engine behind one name."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from conversation_mcp.providers.whereabouts import NOWHERE, Side, Whereabouts
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.models import Source, Usage
from conversation_mcp.records.options import Options

Mode = Literal["search", "deep_research", "chat"]
ModeOf = Callable[[str | None], Mode | None]
"""Tells what a stored question was asked for, by the name of its tool; None where nobody knows the tool any more."""


@dataclass(frozen=True)
class Request:
    """One question with all that was said before; the last message is the user's."""

    mode: Mode
    messages: tuple[ChatMessage, ...]
    preset: str
    model: str | None = None
    options: Options = field(default_factory=Options)
    whereabouts: Whereabouts = NOWHERE
    """Who has what is sent already."""


@dataclass(frozen=True)
class Started:
    """The provider has taken the question; from here on it can be found by this id."""

    response_id: str
    background: bool = False
    """Whether the run goes on at the provider when nobody listens."""


@dataclass(frozen=True)
class Progress:
    """What the provider is doing, as a short phrase: `searching: B-tree`."""

    text: str


@dataclass(frozen=True)
class TextDelta:
    """The next piece of the answer's text, as it arrives."""

    text: str
    replaces: bool = False
    """Whether all that came before has turned out to be no part of the answer."""


@dataclass(frozen=True)
class Quotes:
    """What an answer that only quotes consists of: the text of each source, in their order, and what limits them."""

    texts: tuple[str, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """A whole answer and the facts about it. `finish_reason` is `stop`, or `length` when it was cut."""

    content: str
    finish_reason: Literal["stop", "length"] = "stop"
    sources: tuple[Source, ...] = ()
    usage: Usage | None = None
    model: str | None = None
    preset: str | None = None
    response_id: str | None = None
    reasoning: str | None = None
    related_questions: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    quotes: Quotes | None = None


@dataclass(frozen=True)
class PassedOn:
    """Somebody else gets the words when this event has been taken: the provider that was asked hands them on."""

    provider: str
    side: Side


@dataclass(frozen=True)
class Finished:
    """The last event of every successful run."""

    answer: Answer


@dataclass(frozen=True)
class StillRunning:
    """What a look at a run that has not ended shows."""

    progress: str
    partial_text: str = ""


Event = Started | Progress | TextDelta | PassedOn | Finished


class Provider(Protocol):
    """An answer engine. Implementations need no network and no key until they are asked."""

    @property
    def name(self) -> str:
        """The name that users give and see."""
        ...

    @property
    def abilities(self) -> frozenset[Mode]:
        """The modes it can answer in."""
        ...

    def serves(self, model: str) -> bool:
        """Tell whether `model`, as a user typed it, is a name of this provider's."""
        ...

    def ask(self, request: Request) -> AsyncGenerator[Event]:
        """Send the request, once, and yield what happens; a run that yields no Finished raises.

        Raises:
            ProviderError: one of its subclasses; `usage` holds what was charged all the same.
        """
        ...

    async def fetch(self, response_id: str) -> Finished | StillRunning:
        """Look once at a run that was started earlier, by whichever process; nothing is asked again.

        Raises:
            RunLostError: the provider does not know the run (any more).
            ProviderError: the run failed or was cancelled, or the provider cannot be reached.
        """
        ...

    def follow(self, response_id: str) -> AsyncGenerator[Event]:
        """Watch a run that was started earlier until it ends, as `ask` does; raises as `fetch`."""
        ...

    async def cancel(self, response_id: str) -> Finished | StillRunning:
        """Ask the provider to stop a run and return what then is known of it; raises as `fetch`."""
        ...


@runtime_checkable
class Checkable(Protocol):
    """A provider that can be tried without a question."""

    async def check(self) -> str:
        """Make the cheapest call that shows whether the key works, and return what it showed.

        Raises:
            ProviderError: the provider refuses the key, or cannot be asked.
        """
        ...


@dataclass(frozen=True)
class ListedModel:
    """A model as a server lists it; the window is what it tells, if it tells one."""

    id: str
    context_tokens: int | None = None


@runtime_checkable
class ModelLister(Protocol):
    """A provider that says which models it has."""

    async def list_models(self) -> tuple[ListedModel, ...]:
        """Return the models; a server of this machine that does not answer at once is not there.

        Raises:
            ProviderError: it cannot be asked.
        """
        ...


@dataclass(frozen=True)
class Survey:
    """What a provider that reads files has found: how many it reads, and what it leaves out."""

    read: int
    left_out: tuple[tuple[str, int, tuple[str, ...]], ...]
    """Reason, how many, and a few of their paths."""


@runtime_checkable
class Reader(Provider, Protocol):
    """A provider that quotes from files; its questions may be narrowed to paths instead of domains."""

    def survey(self) -> Survey:
        """Look at the files without reading them; blocks.

        Raises:
            ProviderError: they cannot be looked at.
        """
        ...
