"""The list of models that can be asked, with windows and prices, and the reasons why others cannot."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, get_args

from conversation_mcp.providers.base import Defined, Provider, as_defined
from conversation_mcp.providers.choosing.choice import LISTING, chooses_itself, kind_of, presets_of
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.providers.choosing.sight import sees
from conversation_mcp.providers.model_facts import ModelFacts
from conversation_mcp.records.modes import Mode
from conversation_mcp.records.record import Record
from conversation_mcp.text import listed

if TYPE_CHECKING:
    from conversation_mcp.providers.definitions import Definition


class OfferedModel(Record):
    """A model that can be named."""

    name: str
    """The value to pass as `model`."""
    provider: str
    """The provider that has the model."""
    aliases: tuple[str, ...] | None = None
    """Other names of the model."""
    context_tokens: int | None = None
    """The whole window, for the request and the answer."""
    input_limit_tokens: int | None = None
    """The largest request."""
    output_limit_tokens: int | None = None
    """The longest answer."""
    images: bool | None = None
    """Whether the model sees images; absent if it does not, or if that is unknown."""
    reasoning: bool | None = None
    """Whether the model reasons before it answers."""
    input_usd_per_million: float | None = None
    """The price of a million input tokens."""
    cached_usd_per_million: float | None = None
    """The price of a million input tokens that the provider reads from its cache."""
    output_usd_per_million: float | None = None
    """The price of a million output tokens."""
    ability: int | None = None
    """The rank for `auto`, 0 to 29: below 10 fast, below 20 balanced, else deep."""
    status: str | None = None
    """`deprecated` or `beta`."""
    ends: str | None = None
    """The day from which the model no longer exists."""
    source: str | None = None
    """The source of these facts."""
    refused: str | None = None
    """Why it may not be asked."""


class OfferedProvider(Record):
    """A provider, whether or not it can be asked."""

    name: str
    """The part before the colon in names of models."""
    title: str
    """The proper name."""
    abilities: tuple[str, ...]
    """The modes it supports: search, deep_research, chat."""
    can_be_asked: bool
    """Whether it is configured and, if local, running."""
    note: str | None = None
    """Why it cannot be asked, or its presets."""


class ModelList(Record):
    """The models that can be asked, and all known providers."""

    models: tuple[OfferedModel, ...]
    """The models by provider, in the order in which names are searched; the ablest first, forbidden ones last."""
    total_count: int
    """The number of models without the limit."""
    providers: tuple[OfferedProvider, ...]
    """The providers, first those that can be asked."""


async def list_offer(
    providers: Providers,
    *,
    query: str = "",
    provider: str | None = None,
    ability: Mode | None = None,
    limit: int | None = None,
) -> ModelList:
    """Return the offer; servers on this machine are asked for their models."""
    built = await providers.all()
    catalogue = await providers.catalogue.ready()
    lists = await providers.listings.of_all(one for one in built if kind_of(one) in LISTING and as_defined(one))
    offered: list[OfferedModel] = []
    known: dict[str, OfferedProvider] = {}
    for one in built:
        told = lists.get(one.name)
        known[one.name] = _provider(one, is_there=_is_there(one, has_answered=told is not None))
        facts = {model.id: model for model in catalogue.models(one.name)}
        for model in told or ():
            facts[model.id] = catalogue.find(one.name, model.id) or ModelFacts(
                model.id, context=model.context_tokens, images=model.images, source="told by the server"
            )
        offered += [
            _model(one, model, providers.restrictions.refusal(one.name, model.names))
            for model in sorted(facts.values(), key=lambda model: -(model.ability or 0))
            if known[one.name].can_be_asked
        ]
    for name, definition in providers.definitions.items():
        known.setdefault(name, _not_configured(definition))
    wanted = [
        model
        for model in sorted(offered, key=lambda model: model.refused is not None)
        if query.casefold() in f"{model.name} {' '.join(model.aliases or ())}".casefold()
        and provider in (None, model.provider)
        and (ability is None or ability in known[model.provider].abilities)
    ]
    return ModelList(
        models=tuple(wanted[:limit]),
        total_count=len(wanted),
        providers=tuple(
            sorted(
                (
                    one
                    for one in known.values()
                    if provider in (None, one.name) and (ability is None or ability in one.abilities)
                ),
                key=lambda one: not one.can_be_asked,
            )
        ),
    )


def _model(provider: Provider, facts: ModelFacts, refused: str | None) -> OfferedModel:
    return OfferedModel.of(
        name=facts.id if chooses_itself(provider) else f"{provider.name}:{facts.id}",
        provider=provider.name,
        aliases=facts.aliases or None,
        context_tokens=facts.context,
        input_limit_tokens=facts.input_limit,
        output_limit_tokens=facts.output,
        images=sees(provider, facts) or None,
        reasoning=facts.reasoning or None,
        input_usd_per_million=facts.price_in,
        cached_usd_per_million=facts.price_cached,
        output_usd_per_million=facts.price_out,
        ability=facts.ability,
        status=None if facts.status == "active" else facts.status,
        ends=facts.ends,
        source=facts.source or None,
        refused=refused,
    )


def _is_there(provider: Provider, *, has_answered: bool) -> bool:
    """Tell whether the provider can be asked, as far as that shows without a paid call."""
    defined = as_defined(provider)
    return defined is None or defined.configured.is_certain or has_answered


def _provider(provider: Provider, *, is_there: bool) -> OfferedProvider:
    defined = as_defined(provider)
    presets = presets_of(provider)
    note = f"also accepts {listed(presets)}" if presets else None
    if defined and not is_there:
        note = f"no server answers at {defined.configured.base_url}"
    return OfferedProvider.of(
        name=provider.name,
        title=_title(provider, defined),
        abilities=_ordered(provider.abilities),
        can_be_asked=is_there,
        note=note,
    )


def _title(provider: Provider, defined: Defined | None) -> str:
    return defined.configured.definition.title if defined else provider.name


def _not_configured(definition: "Definition") -> OfferedProvider:
    return OfferedProvider(
        name=definition.name,
        title=definition.title,
        abilities=_ordered(definition.abilities),
        can_be_asked=False,
        note=f"not configured: set {definition.needed_setting}",
    )


def _ordered(abilities: Iterable[Mode]) -> tuple[str, ...]:
    return tuple(mode for mode in get_args(Mode) if mode in abilities)
