"""The choice of whom to ask: a provider and one of its models."""

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from conversation_mcp.providers.base import Provider, as_defined, as_reader
from conversation_mcp.providers.model_facts import ModelFacts
from conversation_mcp.providers.sides import side_of
from conversation_mcp.providers.whereabouts import NOWHERE, Side, Whereabouts
from conversation_mcp.records.modes import Mode
from conversation_mcp.settings import Kind

DOING: Mapping[Mode, str] = {"search": "search", "deep_research": "do deep research", "chat": "chat"}
Needed = Callable[[], Awaitable[int]]
LISTING = ("local", "custom")
"""Kinds of providers whose models only the provider itself can list."""


class Choice(NamedTuple):
    """The provider to ask, and the model; None if the provider chooses the model itself."""

    provider: Provider
    model: str | None = None
    name: str | None = None
    """The name of the model among those of all providers; None if the provider chooses it."""
    facts: ModelFacts = ModelFacts("")
    notices: tuple[str, ...] = ()

    @property
    def side(self) -> Side:
        """Whether the question stays on this machine."""
        return side_of(self.provider, self.model)

    @property
    def shown(self) -> str:
        """The name to show to people."""
        return self.name or self.provider.name

    @property
    def naming(self) -> str:
        """The value of `model` that names the provider, too."""
        own, shown = self.provider.name, self.shown
        return shown if shown == own or shown.startswith((f"{own}:", f"{own}/")) else f"{own}:{shown}"

    def is_named_by(self, model: str | None) -> bool:
        """Tell whether a call with this `model` names the chosen provider, and so allows it to get the words.

        The provider's own name does, alone or before a model, and so does a model that the provider itself makes, or
        the user's own alias. A name that several providers may serve does not, nor does a family, `auto`, or a server
        on this machine for a model that it runs elsewhere.
        """
        wanted, provider = (model or "").casefold(), self.provider
        if wanted == provider.name:
            return side_of(provider) == self.side
        if wanted.startswith((f"{provider.name}:", f"{provider.name}/")):
            return True
        if presets_of(provider):
            return self.model is not None and "/" not in wanted and wanted == self.model.casefold()
        is_own = self.facts.is_own and wanted in map(str.casefold, self.facts.aliases)
        return is_own or (kind_of(provider) == "direct" and wanted in self.facts.names)


class Kept(NamedTuple):
    """A provider that answered in the conversation, and the models that it was asked for."""

    provider: str
    model: str | None = None
    """The model of its last question in the current mode; None for its default."""
    other_model: str | None = None
    """The model of its last question in any mode."""
    is_of_mode: bool = False
    """Whether it has answered a question in the current mode."""


async def nothing() -> int:
    """Return 0: any window is large enough."""
    return 0


class Need(NamedTuple):
    """The requirements of a question, whoever is chosen."""

    mode: Mode
    preset: str = ""
    """The preset to ask a provider with presets for, if no model is named."""
    tokens: Needed = nothing
    """Returns the size of window that auto must find; called only if auto chooses, because counting takes time."""
    whereabouts: Whereabouts = NOWHERE
    """The providers that have the words. They are searched for a name first, and auto sends words that never left this
    machine to no other place while a model here can answer."""
    has_images: bool = False
    """Whether auto passes over models that are known not to see."""


def presets_of(provider: Provider) -> tuple[str, ...]:
    """Return the names that the provider accepts in place of a model."""
    defined = as_defined(provider)
    return defined.configured.definition.presets if defined else ()


def chooses_itself(provider: Provider) -> bool:
    """Tell whether the provider chooses its model itself: it has presets, or needs no model."""
    return as_defined(provider) is None or bool(presets_of(provider))


def is_agent(provider: Provider, name: str) -> bool:
    """Tell whether this is the name of one of the provider's agents, which do research only."""
    defined = as_defined(provider)
    return defined is not None and defined.configured.definition.is_agent(name)


def kind_of(provider: Provider) -> Kind:
    """Return the kind of the provider, which decides when it is searched for a name."""
    defined = as_defined(provider)
    if defined:
        return defined.configured.definition.kind
    return "local" if as_reader(provider) else "direct"
