"""Who is asked: a provider with one of its models, and what kind of provider it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from conversation_mcp.providers.base import Mode, Provider
from conversation_mcp.providers.configured import Described
from conversation_mcp.providers.model_facts import ModelFacts
from conversation_mcp.providers.sides import side_of
from conversation_mcp.providers.whereabouts import DOCUMENTS, Side
from conversation_mcp.settings import Kind

PERPLEXITY = "perplexity"
DOING: Mapping[Mode, str] = {"search": "search", "deep_research": "do deep research", "chat": "chat"}
LISTING = ("local", "custom")
"""Kinds of providers of which nobody knows the models but they themselves."""


@dataclass(frozen=True)
class Choice:
    """Who is asked, and with which model; None where the provider has levels of its own instead."""

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


def as_described(provider: Provider) -> Described | None:
    """Return the provider as one that is made from a definition, if it is."""
    return provider if isinstance(provider, Described) else None


def chooses_itself(provider: Provider) -> bool:
    """Tell whether the provider has levels or passages instead of one model for each question."""
    return provider.name == PERPLEXITY or not isinstance(provider, Described)


def kind_of(provider: Provider) -> Kind:
    """Return where the provider stands in the order of looking."""
    described = as_described(provider)
    if described:
        return described.configured.definition.kind
    return "local" if provider.name == DOCUMENTS else "direct"
