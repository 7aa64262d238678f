"""From a name as a user typed it to a provider and its model."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from conversation_mcp.errors import Argument, InvalidInputError, ModelUnavailableError, ProviderNotConfiguredError
from conversation_mcp.providers.base import Mode, Provider
from conversation_mcp.providers.choosing.chosen import (
    DOING,
    LISTING,
    PERPLEXITY,
    Choice,
    as_described,
    chooses_itself,
    kind_of,
)
from conversation_mcp.providers.choosing.families import belongs_to, is_family
from conversation_mcp.providers.choosing.listings import Listings
from conversation_mcp.providers.choosing.names import Restrictions, known_names, near_names, split_name
from conversation_mcp.providers.configured import Described
from conversation_mcp.providers.model_facts import Catalogue, ModelFacts, names_of
from conversation_mcp.providers.sides import is_far, nearest_first
from conversation_mcp.providers.whereabouts import DOCUMENTS, NOWHERE, Whereabouts
from conversation_mcp.text import presentable

if TYPE_CHECKING:
    from conversation_mcp.providers.definitions import Definition

MODEL = Argument("model")
MAX_NAME_CHARS = 200
ASSUMED = "assumed"
NEEDS_KEY = "Set PERPLEXITY_API_KEY, or leave model out."


class Resolver:
    """Looks for a name at all providers, or at the one that the name names."""

    def __init__(self, catalogue: Catalogue, listings: Listings, restrictions: Restrictions) -> None:
        self.definitions: Mapping[str, Definition] = {}
        """All providers that are known, configured or not."""
        self._catalogue = catalogue
        self._listings = listings
        self._restrictions = restrictions

    async def resolve(
        self, name: str, mode: Mode, providers: Sequence[Provider], whereabouts: Whereabouts = NOWHERE
    ) -> Choice:
        """Return the first provider that knows the name, can do what is asked for and may be asked.

        Those that have the words are looked at first.

        Raises:
            InvalidInputError, ModelUnavailableError, ProviderNotConfiguredError: there is none; the message says why.
        """
        if len(name) > MAX_NAME_CHARS:
            raise InvalidInputError(MODEL, f" has {len(name):,} characters; at most {MAX_NAME_CHARS} are taken.")
        providers = nearest_first(providers, whereabouts)
        if newest := await self._newest(name, mode, providers):
            return newest
        unable: Provider | None = None
        refused: ModelUnavailableError | None = None
        async with aclosing(self._places(name, mode, providers, whereabouts)) as places:
            async for provider, model in places:
                if mode not in provider.abilities:
                    unable = unable or provider
                    continue
                try:
                    return await self.at(provider, model)
                except ModelUnavailableError as error:
                    refused = refused or error
        if refused:
            raise refused
        if unable:
            raise InvalidInputError(_unable(unable, mode, providers), field=MODEL)
        raise await self._unknown(name, mode, providers, whereabouts)

    async def _newest(self, name: str, mode: Mode, providers: Sequence[Provider]) -> Choice | None:
        """Return the newest model of a family that may be asked, if the name is that of a family and of no model."""
        owner, _, family = name.rpartition(":")
        if not is_family(family) or any(self._catalogue.find(provider.name, family) for provider in providers):
            return None
        found = [
            (provider, facts)
            for provider in providers
            if mode in provider.abilities and owner.casefold() in ("", provider.name)
            for facts in self._catalogue.models(provider.name)
            if belongs_to(family, facts.names) and facts.status == "active" and not facts.named_only
            if self._restrictions.refusal(provider.name, facts.names) is None
        ]
        if not found:
            return None
        provider, facts = max(found, key=lambda one: (one[1].ability or 0, mode != "chat" or one[0].name != PERPLEXITY))
        choice = await self.at(provider, facts.id)
        notice = f"{family.casefold()} is {choice.shown} here, the newest of its family that can be asked"
        return replace(choice, notices=(notice, *choice.notices))

    async def at(self, provider: Provider, model: str) -> Choice:
        """Return the model at its provider, with its window.

        Raises:
            ModelUnavailableError: it may not be asked, or is not there.
        """
        described = as_described(provider)
        if chooses_itself(provider):
            facts = self._catalogue.find(provider.name, model) or ModelFacts(model)
            self._require_allowed(provider, model, facts)
            return Choice(provider, model, model, facts)
        facts = self._catalogue.find(provider.name, model)
        if facts is None and kind_of(provider) == "unified":
            facts = self._catalogue.find_by_last_part(provider.name, model)
        sent = model if facts is None or _is_own_name(facts, model) else facts.id
        known = facts or ModelFacts(model)
        self._require_allowed(provider, model, known)
        await self._require_there(provider, model, facts)
        known = await self.with_window(provider, known)
        is_told = known.source == ASSUMED and described is not None and model not in _own_models(described)
        notices = (_assumed(provider, known),) if is_told else ()
        return Choice(provider, sent, f"{provider.name}:{sent}", known, notices)

    async def with_window(self, provider: Provider, facts: ModelFacts) -> ModelFacts:
        """Return the facts with a window: as the server tells it, or else as is assumed."""
        described = as_described(provider)
        if described is None or facts.context is not None:
            return facts
        if kind_of(provider) != "direct":
            listed = await self._listings.of(provider) or ()
            told = next((model.context_tokens for model in listed if model.id == facts.id), None)
            if told is not None:
                return replace(facts, context=told, source="told by the server")
        usual = described.configured.definition.default_window_tokens
        return facts if usual is None else replace(facts, context=usual, source=ASSUMED)

    async def _places(
        self, name: str, mode: Mode, providers: Sequence[Provider], whereabouts: Whereabouts
    ) -> AsyncGenerator[tuple[Provider, str]]:
        """Yield who has the name, and what it is called there: by name, then who knows it, then who takes any."""
        is_known = any(self._catalogue.find(provider.name, name) for provider in providers)
        if not is_known and (prefixed := await self._prefixed(name, providers, whereabouts)):
            yield prefixed
            return
        for provider in providers:
            if model := await self._at_home(provider, name, mode, providers):
                yield provider, model
        for provider in providers:
            if self._catches(provider, name):
                yield provider, name

    async def _at_home(self, provider: Provider, name: str, mode: Mode, providers: Sequence[Provider]) -> str | None:
        """Return the provider's own name of the model, if it knows it.

        Perplexity takes `provider/model` of any maker: where it only chats, whoever knows the name comes first.
        """
        described = as_described(provider)
        if chooses_itself(provider) or described is None:
            is_known = self._catalogue.find(provider.name, name) or "/" not in name
            has_it = provider.serves(name) and (mode != "chat" or provider.name != PERPLEXITY or is_known)
            return name if has_it else None
        if name in _own_models(described) or self._catalogue.find(provider.name, name):
            return name
        kind = kind_of(provider)
        if kind == "unified" and (facts := self._catalogue.find_by_last_part(provider.name, name)):
            return facts.id
        if kind in LISTING:
            listed = await self._listings.of_all(other for other in providers if kind_of(other) in LISTING)
            return next((one.id for one in listed[provider.name] or () if one.id.casefold() == name.casefold()), None)
        return None

    async def _prefixed(
        self, name: str, providers: Sequence[Provider], whereabouts: Whereabouts
    ) -> tuple[Provider, str] | None:
        known = {provider.name: provider for provider in providers}
        parts = split_name(name, {*known, *self.definitions})
        if parts is None:
            return None
        owner, model = parts
        if owner not in known:
            raise ProviderNotConfiguredError(_not_configured(self.definitions[owner]))
        provider = known[owner]
        if chooses_itself(provider) and not provider.serves(model):
            near = await self._near(model, providers, whereabouts)
            raise InvalidInputError(f"{owner} has no model {presentable(model)!r}.{near}", field=MODEL)
        return provider, model

    def _catches(self, provider: Provider, name: str) -> bool:
        """Tell whether the provider takes a name that nobody knows, without being named itself."""
        if provider.name == PERPLEXITY:
            return provider.serves(name)
        described = as_described(provider)
        if described is None or not described.configured.definition.accepts_any_model:
            return False
        kind = described.configured.definition.kind
        return (kind == "custom" or (kind == "unified" and "/" in name)) and provider.serves(name)

    def _require_allowed(self, provider: Provider, model: str, facts: ModelFacts) -> None:
        why = self._restrictions.refusal(provider.name, facts.names | names_of(model))
        if why is not None:
            raise ModelUnavailableError(f"{provider.name} must not be asked with {model}: {why}.")

    async def _require_there(self, provider: Provider, model: str, facts: ModelFacts | None) -> None:
        """Refuse a name that the provider cannot know; a server that does not say what it has is asked all the same."""
        described = as_described(provider)
        if described is None or facts is not None or provider.serves(model):
            return
        definition = described.configured.definition
        if definition.accepts_any_model:
            raise InvalidInputError(f"{presentable(model)!r} is no name of a model.", field=MODEL)
        listed = await self._listings.of(provider)
        if listed is not None and model not in {one.id for one in listed}:
            there = ", ".join(one.id for one in listed) or "none"
            raise ModelUnavailableError(f"{definition.title} has no model {model}; it has {there}.")

    async def _unknown(
        self, name: str, mode: Mode, providers: Sequence[Provider], whereabouts: Whereabouts
    ) -> Exception:
        if name == DOCUMENTS:
            return ProviderNotConfiguredError(
                "model 'local' asks your own files, and none are named. Start with --documents FOLDER."
            )
        able = [provider for provider in providers if mode in provider.abilities]
        others = [provider for provider in able if not chooses_itself(provider)]
        if not others and all(provider.name != PERPLEXITY for provider in able):
            return ProviderNotConfiguredError(
                f"no configured provider has the model {presentable(name)!r}. {NEEDS_KEY}"
            )
        near = await self._near(name, able, whereabouts)
        if not others:
            return InvalidInputError(
                MODEL,
                " must be a preset (fast, low, medium, high, xhigh), provider/model, or local; "
                f"got {presentable(name)!r}.{near}",
            )
        return InvalidInputError(
            f"no configured provider knows the model {presentable(name)!r}.{near} "
            f"If it is new, say whose it is: {others[0].name}:{name}.",
            field=MODEL,
        )

    async def _near(self, name: str, providers: Sequence[Provider], whereabouts: Whereabouts) -> str:
        listing = [provider for provider in providers if kind_of(provider) in LISTING and as_described(provider)]
        listed = await self._listings.of_all(listing)

        def names(of: Iterable[Provider]) -> dict[str, str]:
            return known_names(
                ("" if chooses_itself(provider) else provider.name, facts)
                for provider in of
                for facts in (
                    *self._catalogue.models(provider.name),
                    *(ModelFacts(model.id) for model in listed.get(provider.name) or ()),
                )
            )

        far = [provider for provider in providers if is_far(provider, whereabouts)]
        return near_names(name, names(providers), frozenset(names(far).values()))


def _is_own_name(facts: ModelFacts, name: str) -> bool:
    """Tell whether the provider itself knows the name; an alias of the user's it does not."""
    return name == facts.id or (name in facts.aliases and not facts.is_own)


def _assumed(provider: Provider, facts: ModelFacts) -> str:
    return (
        f"nobody knows the window of {provider.name}:{facts.id}; {facts.context:,} tokens are assumed. "
        f'Say it under [models."{provider.name}:{facts.id}"] in the configuration file: context = …'
    )


def _unable(provider: Provider, mode: Mode, providers: Sequence[Provider]) -> str:
    able = [other.name for other in providers if mode in other.abilities]
    others = f"Those that can: {', '.join(able)}." if able else "No configured provider can."
    return f"{provider.name} cannot {DOING[mode]}. {others}"


def _not_configured(definition: "Definition") -> str:
    needed = definition.key_variable if definition.needs_key else definition.base_url_name
    return f"{definition.title} is not configured. Set {needed}, or name another model."


def _own_models(described: Described) -> set[str]:
    """Return the models that the definition or the user's settings name."""
    configured = described.configured
    definition = configured.definition
    named = (configured.default_model, definition.default_model, definition.research_model)
    return {*definition.models, *(model for model in named if model)}
