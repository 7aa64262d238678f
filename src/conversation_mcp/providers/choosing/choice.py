"""Who is asked: a provider with one of its models."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from conversation_mcp.providers.base import Defined, Provider, Reader
from conversation_mcp.providers.model_facts import ModelFacts
from conversation_mcp.providers.sides import side_of
from conversation_mcp.providers.whereabouts import NOWHERE, Side, Whereabouts
from conversation_mcp.records.modes import Mode
from conversation_mcp.settings import Kind

DOING: Mapping[Mode, str] = {"search": "search", "deep_research": "do deep research", "chat": "chat"}
Needed = Callable[[], Awaitable[int]]
LISTING = ("local", "custom")
"""Kinds of providers of which nobody knows the models but they themselves."""


@dataclass(frozen=True)
class Choice:
    """Who is asked, and with which model; None where the provider chooses it itself."""

    provider: Provider
    model: str | None = None
    name: str | None = None
    """How the model is named among those of all providers; None when nobody named one."""
    facts: ModelFacts = field(default_factory=lambda: ModelFacts(""))
    notices: tuple[str, ...] = ()

    @property
    def side(self) -> Side:
        """Whether what is asked stays on this machine."""
        return side_of(self.provider, self.model)

    @property
    def shown(self) -> str:
        """How people name who is asked."""
        return self.name or self.provider.name

    @property
    def naming(self) -> str:
        """What a call says as `model` to name the provider too."""
        own, shown = self.provider.name, self.shown
        return shown if shown == own or shown.startswith((f"{own}:", f"{own}/")) else f"{own}:{shown}"

    def is_named_by(self, model: str | None) -> bool:
        """Tell whether a call that says this model names who was chosen.

        The provider's own name does, also before a model, and so does a model that the provider itself makes, or an
        alias of the user's. A name that several may serve does not, nor that of a family, `auto`, or a server of this
        machine for what it passes on.
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


@dataclass(frozen=True)
class Kept:
    """A provider that has answered in the conversation, and the models that it was asked for there."""

    provider: str
    model: str | None = None
    """The one of its last question of the kind that is asked now; None where it took the default."""
    other_model: str | None = None
    """The last one of any kind."""
    is_of_mode: bool = False
    """Whether it has answered a question of that kind."""


async def nothing() -> int:
    """Return that no room is needed."""
    return 0


@dataclass(frozen=True)
class Need:
    """What the one who is asked has to take, whoever it is."""

    mode: Mode
    preset: str = ""
    """What a provider that has presets is asked for when no model is named."""
    tokens: Needed = nothing
    """Tells how large a window auto has to find; asked only when auto chooses."""
    whereabouts: Whereabouts = NOWHERE
    """Who has the words. Names are looked for there first, and what never left this machine is not sent anywhere else
    by auto while there is anybody here."""


def as_defined(provider: Provider) -> Defined | None:
    """Return the provider as one that is made from a definition, if it is."""
    return provider if isinstance(provider, Defined) else None


def presets_of(provider: Provider) -> tuple[str, ...]:
    """Return what the provider takes in place of a model."""
    defined = as_defined(provider)
    return defined.configured.definition.presets if defined else ()


def chooses_itself(provider: Provider) -> bool:
    """Tell whether the provider has presets or passages instead of one model for each question."""
    return as_defined(provider) is None or bool(presets_of(provider))


def kind_of(provider: Provider) -> Kind:
    """Return where the provider stands in the order of looking."""
    defined = as_defined(provider)
    if defined:
        return defined.configured.definition.kind
    return "local" if isinstance(provider, Reader) else "direct"
