"""The port of a provider: an answer engine under one name."""

from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, cast, runtime_checkable

from conversation_mcp.providers.whereabouts import NOWHERE, Side, Whereabouts
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.models import Source
from conversation_mcp.records.modes import Mode
from conversation_mcp.records.options import NO_OPTIONS, Options
from conversation_mcp.records.usage import Usage

if TYPE_CHECKING:
    from conversation_mcp.providers.definitions import Configured
    from conversation_mcp.searching.vectors.builder import VectorHeadway


class Request(NamedTuple):
    """One question with the whole history; the last message is the user's."""

    mode: Mode
    messages: tuple[ChatMessage, ...]
    preset: str
    model: str | None = None
    options: Options = NO_OPTIONS
    whereabouts: Whereabouts = NOWHERE
    """Who already has the words that are sent."""
    output_limit_tokens: int | None = None
    """How long the answer can be, as far as that is known; sent only to servers that need a limit."""


# Events are no named tuples: two of different kinds must never be equal.
@dataclass(frozen=True)
class Started:
    """The provider has accepted the question; from now on the run can be found by this id."""

    response_id: str
    background: bool = False
    """Whether the run continues at the provider when nobody listens."""


@dataclass(frozen=True)
class Progress:
    """What the provider is doing, as a short phrase: `searching: B-tree`."""

    text: str


@dataclass(frozen=True)
class TextDelta:
    """The next piece of the answer's text, as it arrives."""

    text: str
    replaces: bool = False
    """Whether everything before it has turned out not to be part of the answer."""


class Quotes(NamedTuple):
    """The content of an answer that only quotes: the text of each source, in order, and remarks on their limits."""

    texts: tuple[str, ...]
    remarks: tuple[str, ...] = ()


class Answer(NamedTuple):
    """A whole answer and the facts about it. `finish_reason` is `stop`, or `length` if it was cut."""

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
    """The provider that was asked passes the words on to another one, once the consumer has handled this event.

    So the file names the recipient before the recipient has the words.
    """

    provider: str
    side: Side


@dataclass(frozen=True)
class Finished:
    """The last event of every successful run."""

    answer: Answer


@dataclass(frozen=True)
class StillRunning:
    """The state of a run that has not ended."""

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
        """The modes in which it can answer."""
        ...

    def serves(self, model: str) -> bool:
        """Tell whether `model`, as a user typed it, can be a name at this provider."""
        ...

    def ask(self, request: Request) -> AsyncGenerator[Event]:
        """Send the request once and yield the events; a run that yields no Finished raises.

        Raises:
            ProviderError: one of its subclasses; `usage` holds what was charged all the same.
        """
        ...

    async def fetch(self, response_id: str) -> Finished | StillRunning:
        """Look once at a run that any process started earlier; nothing is asked again.

        Raises:
            RunLostError: the provider does not know the run, or no longer does.
            ProviderError: the run failed or was cancelled, or the provider cannot be reached.
        """
        ...

    def follow(self, response_id: str) -> AsyncGenerator[Event]:
        """Watch a run that was started earlier until it ends, with the events of `ask`; raises as `fetch`."""
        ...

    async def cancel(self, response_id: str) -> Finished | StillRunning:
        """Ask the provider to stop a run and return the state of the run afterwards; raises as `fetch`."""
        ...


class Defined(Protocol):
    """A provider that is built from a definition, which says how it differs from others."""

    @property
    def configured(self) -> "Configured":
        """The definition and the user's settings that it was built from."""
        ...


@runtime_checkable
class Checkable(Protocol):
    """A provider that can be tried without a question."""

    async def check(self) -> str:
        """Make the cheapest call that shows whether the key works, and return its result in words.

        Raises:
            ProviderError: the provider refuses the key, or cannot be asked.
        """
        ...


class ListedModel(NamedTuple):
    """A model in a server's list, with its window and what it can do, as far as the server says it."""

    id: str
    context_tokens: int | None = None
    images: bool | None = None
    thinks: bool | None = None
    takes_system: bool | None = None
    """Whether it takes a system message."""


@runtime_checkable
class ModelLister(Protocol):
    """A provider that can list its models."""

    async def list_models(self, within_seconds: float | None = None) -> tuple[ListedModel, ...]:
        """Return the models; a server on this machine that does not answer at once counts as absent.

        Raises:
            ProviderError: the provider cannot be asked, or does not answer in this time.
        """
        ...


@runtime_checkable
class TokenCounter(Protocol):
    """A provider that counts the tokens of a request without answering it."""

    async def count(self, request: Request) -> int:
        """Return the tokens of the request as the provider counts them, which costs nothing.

        Raises:
            ProviderError: the provider cannot be asked, or gives no number.
        """
        ...


class Survey(NamedTuple):
    """The files that a provider found: how many it reads, and which ones it leaves out."""

    read: int
    left_out: tuple[tuple[str, int, tuple[str, ...]], ...]
    """The reason, the number of files, and a few of their paths."""


class VectorStanding(NamedTuple):
    """How far the vectors for searches by meaning are made."""

    model: str
    passages: int
    """How many passages there are."""
    known: int
    """How many of them have a vector."""
    is_whole: bool
    """Whether all had one once, so that searches use them."""
    size_bytes: int
    server: str | None = None
    """The server that gets the passages, None if they stay in this process."""


class Reader(Provider, Protocol):
    """A provider that quotes from files on this machine; its questions can be narrowed to paths instead of domains."""

    def survey(self) -> Survey:
        """List the files without reading them; blocks.

        Raises:
            ProviderError: the files cannot be listed.
        """
        ...

    def make_vectors(self) -> "Generator[VectorHeadway]":
        """Make the vectors that are missing, in steps; blocks. Yields nothing if there is no model for them.

        Raises:
            ProviderError: the files cannot be read.
            EmbeddingsError: the model fails.
            IndexUnusableError: the vectors cannot be kept.
        """
        ...

    def vectors(self) -> VectorStanding | None:
        """Return how far they are made, None if there is no model for them; blocks."""
        ...


# Not `isinstance`: for a protocol it takes a hundred times as long, and every turn asks several times.


def as_reader(provider: Provider) -> Reader | None:
    """Return the provider if it quotes from files."""
    return cast("Reader", provider) if hasattr(provider, "survey") else None


def as_defined(provider: Provider) -> Defined | None:
    """Return the provider if it is built from a definition."""
    return cast("Defined", provider) if hasattr(provider, "configured") else None
