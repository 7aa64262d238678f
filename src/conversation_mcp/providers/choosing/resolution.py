"""The resolution of a typed name to a provider and its model."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from conversation_mcp.errors import Argument, InvalidInputError, ModelUnavailableError, ProviderNotConfiguredError
from conversation_mcp.providers.base import ListedModel, Provider
from conversation_mcp.providers.catalog import LOCAL
from conversation_mcp.providers.choosing.choice import (
    DOING,
    LISTING,
    Choice,
    as_defined,
    chooses_itself,
    kind_of,
    presets_of,
)
from conversation_mcp.providers.choosing.listings import Listings
from conversation_mcp.providers.choosing.names import belongs_to, is_family, known_names, near_names, split_name
from conversation_mcp.providers.choosing.restrictions import Restrictions
from conversation_mcp.providers.configuration import suggested_keys
from conversation_mcp.providers.model_facts import ASSUMED, Catalogue, ModelFacts, names_of
from conversation_mcp.providers.sides import is_far, nearest_first
from conversation_mcp.providers.whereabouts import NOWHERE, Whereabouts
from conversation_mcp.records.modes import Mode
from conversation_mcp.sources import variable_of
from conversation_mcp.text import listed, presentable

if TYPE_CHECKING:
    from conversation_mcp.providers.definitions import Definition

MAX_NAME_CHARS = 200
MODEL = Argument("model")


class Resolver:
    """Searches all providers for a name, or only the provider in front of it."""

    def __init__(self, catalogue: Catalogue, listings: Listings, restrictions: Restrictions) -> None:
        self.definitions: Mapping[str, Definition] = {}
        """All known providers, configured or not."""
        self.catalogue = catalogue
        self.listings = listings
        self.restrictions = restrictions

    async def resolve(
        self, name: str, mode: Mode, providers: Sequence[Provider], whereabouts: Whereabouts = NOWHERE
    ) -> Choice:
        """Return the first provider that knows the name, supports the mode and may be asked for the model.

        Providers that have the words are searched first.

        Raises:
            InvalidInputError, ModelUnavailableError, ProviderNotConfiguredError: none fits; the message says why.
        """
        if len(name) > MAX_NAME_CHARS:
            raise InvalidInputError(MODEL, f" has {len(name):,} characters; at most {MAX_NAME_CHARS} are accepted.")
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
        """Return the newest allowed model of a family, if the name is a family and not a model."""
        owner, _, family = name.rpartition(":")
        if not is_family(family) or any(self.catalogue.find(provider.name, family) for provider in providers):
            return None
        found = [
            (provider, facts)
            for provider in providers
            if mode in provider.abilities and owner.casefold() in ("", provider.name)
            for facts in self.catalogue.models(provider.name)
            if belongs_to(family, facts.names) and facts.status == "active" and not facts.named_only
            if self.restrictions.refusal(provider.name, facts.names) is None
        ]
        if not found:
            return None
        # Of equals the first provider wins, but in chat one without presets goes before one that passes models on.
        provider, facts = max(found, key=lambda one: (one[1].ability or 0, mode != "chat" or not presets_of(one[0])))
        choice = await self.at(provider, facts.id)
        notice = f"{family.casefold()} is {choice.shown} here, the newest of its family that can be asked"
        return choice._replace(notices=(notice, *choice.notices))

    async def at(self, provider: Provider, model: str) -> Choice:
        """Return the model at its provider, with its window.

        Raises:
            ModelUnavailableError: the model may not be asked, or does not exist there.
        """
        defined = as_defined(provider)
        if chooses_itself(provider):
            facts = self.catalogue.find(provider.name, model) or ModelFacts(model)
            self._require_allowed(provider, model, facts)
            return Choice(provider, model, model, facts)
        facts = self.catalogue.find(provider.name, model)
        if facts is None and kind_of(provider) == "unified":
            facts = self.catalogue.find_by_last_part(provider.name, model)
        # An alias that only the user's file has would be unknown at the provider.
        sent = model if facts is None or _is_own_name(facts, model) else facts.id
        known = facts or ModelFacts(model)
        self._require_allowed(provider, model, known)
        await self._require_there(provider, model, facts)
        known = await self.with_window(provider, known)
        is_told = known.source == ASSUMED and defined is not None and model not in defined.configured.own_models
        notices = (_assumed(provider, known),) if is_told else ()
        return Choice(provider, sent, f"{provider.name}:{sent}", known, notices)

    def at_preset(self, provider: Provider, preset: str) -> Choice:
        """Return the choice of a provider that chooses its model itself, by the preset if it has presets.

        Raises:
            ModelUnavailableError: the preset may not be asked for.
        """
        why = self.restrictions.refusal(provider.name, [preset]) if presets_of(provider) else None
        if why is not None:
            raise ModelUnavailableError(f"{preset} of {provider.name} may not be asked: {why}.")
        return Choice(provider)

    async def with_window(self, provider: Provider, facts: ModelFacts) -> ModelFacts:
        """Return the facts with a window, if possible: the server's own figure, else an assumption; and with sight."""
        defined = as_defined(provider)
        if defined is None or facts.context is not None:
            return facts
        if kind_of(provider) != "direct":
            known = await self.listings.of(provider) or ()
            told = next((model for model in known if model.id == facts.id), ListedModel(facts.id))
            facts = facts._replace(images=told.images if facts.images is None else facts.images)
            if told.context_tokens is not None:
                return facts._replace(context=told.context_tokens, source="told by the server")
        usual = defined.configured.definition.default_window_tokens
        return facts if usual is None else facts._replace(context=usual, source=ASSUMED)

    async def _places(
        self, name: str, mode: Mode, providers: Sequence[Provider], whereabouts: Whereabouts
    ) -> AsyncGenerator[tuple[Provider, str]]:
        """Yield providers with their own name of the model: the one named in front, or those that know it, then others.

        The others accept any name. A model's own name may contain a colon, so a known name is not split.
        """
        is_known = any(self.catalogue.find(provider.name, name) for provider in providers)
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
        """Return the provider's own name of the model, if it knows the model.

        A provider with presets also accepts `maker/model` of others; in chat, providers that know the name come first.
        """
        defined = as_defined(provider)
        if chooses_itself(provider) or defined is None:
            is_known = self.catalogue.find(provider.name, name) or "/" not in name
            has_it = provider.serves(name) and (mode != "chat" or not presets_of(provider) or is_known)
            return name if has_it else None
        if name in defined.configured.own_models or self.catalogue.find(provider.name, name):
            return name
        kind = kind_of(provider)
        if kind == "unified" and (facts := self.catalogue.find_by_last_part(provider.name, name)):
            return facts.id
        if kind in LISTING:
            told = await self.listings.of_all(other for other in providers if kind_of(other) in LISTING)
            return next((one.id for one in told[provider.name] or () if one.id.casefold() == name.casefold()), None)
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
        """Tell whether the provider accepts an unknown name without its own name in front."""
        if presets_of(provider):
            return provider.serves(name)
        defined = as_defined(provider)
        if defined is None or not defined.configured.definition.accepts_any_model:
            return False
        kind = defined.configured.definition.kind
        return (kind == "custom" or (kind == "unified" and "/" in name)) and provider.serves(name)

    def _require_allowed(self, provider: Provider, model: str, facts: ModelFacts) -> None:
        why = self.restrictions.refusal(provider.name, facts.names | names_of(model))
        if why is not None:
            raise ModelUnavailableError(f"{model} of {provider.name} may not be asked: {why}.")

    async def _require_there(self, provider: Provider, model: str, facts: ModelFacts | None) -> None:
        """Refuse a name that the provider cannot have; a server that does not list its models is asked all the same."""
        defined = as_defined(provider)
        if defined is None or facts is not None or provider.serves(model):
            return
        definition = defined.configured.definition
        if definition.accepts_any_model:
            raise InvalidInputError(f"{presentable(model)!r} is not the name of a model.", field=MODEL)
        told = await self.listings.of(provider)
        if told is not None and model not in {one.id for one in told}:
            there = ", ".join(one.id for one in told) or "none"
            raise ModelUnavailableError(f"{definition.title} has no model {model}; it has {there}.")

    async def _unknown(
        self, name: str, mode: Mode, providers: Sequence[Provider], whereabouts: Whereabouts
    ) -> Exception:
        if name == LOCAL:
            return ProviderNotConfiguredError(
                f"model {name!r} asks your own files, and none are named. Set {variable_of('documents')}."
            )
        able = [provider for provider in providers if mode in provider.abilities]
        others = [provider for provider in able if not chooses_itself(provider)]
        presets = next((presets for provider in able if (presets := presets_of(provider))), ())
        if not others and not presets:
            keys = listed(suggested_keys(mode, self.definitions.values()), "or")
            return ProviderNotConfiguredError(
                f"no configured provider has the model {presentable(name)!r}. Set {keys}, or leave model out."
            )
        near = await self._near(name, able, whereabouts)
        if not others:
            return InvalidInputError(
                MODEL,
                f" must be a preset ({', '.join(presets)}), provider/model, or {LOCAL}; "
                f"got {presentable(name)!r}.{near}",
            )
        return InvalidInputError(
            f"no configured provider knows the model {presentable(name)!r}.{near} "
            f"If it is new, say whose it is: {others[0].name}:{name}.",
            field=MODEL,
        )

    async def _near(self, name: str, providers: Sequence[Provider], whereabouts: Whereabouts) -> str:
        listing = [provider for provider in providers if kind_of(provider) in LISTING and as_defined(provider)]
        told = await self.listings.of_all(listing)

        def names(of: Iterable[Provider]) -> dict[str, str]:
            return known_names(
                ("" if chooses_itself(provider) else provider.name, facts)
                for provider in of
                for facts in (
                    *self.catalogue.models(provider.name),
                    *(ModelFacts(model.id) for model in told.get(provider.name) or ()),
                )
            )

        far = [provider for provider in providers if is_far(provider, whereabouts)]
        return near_names(name, names(providers), frozenset(names(far).values()))


def _is_own_name(facts: ModelFacts, name: str) -> bool:
    """Tell whether the provider itself knows the name; it does not know the user's aliases."""
    return name == facts.id or (name in facts.aliases and not facts.is_own)


def _assumed(provider: Provider, facts: ModelFacts) -> str:
    return (
        f"the window of {provider.name}:{facts.id} is unknown; {facts.context:,} tokens are assumed. "
        f'Set it under [models."{provider.name}:{facts.id}"] in the configuration file: context = …'
    )


def _unable(provider: Provider, mode: Mode, providers: Sequence[Provider]) -> str:
    able = [other.name for other in providers if mode in other.abilities]
    others = f"Those that can: {', '.join(able)}." if able else "No configured provider can."
    return f"{provider.name} cannot {DOING[mode]}. {others}"


def _not_configured(definition: "Definition") -> str:
    return f"{definition.title} is not configured. Set {definition.needed_setting}, or name another model."
