"""Which provider answers with which model: what was named, else the best that can. Never a silent substitution."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from anyio import to_thread

from conversation_mcp.errors import (
    InvalidInputError,
    ModelUnavailableError,
    ProviderError,
    ProviderNotConfiguredError,
)
from conversation_mcp.providers.auto import (
    AUTO,
    Candidate,
    Category,
    best,
    category_of,
    may_be_chosen,
    reason,
)
from conversation_mcp.providers.base import Mode, Provider, Reader
from conversation_mcp.providers.configured import Described, definitions_in, is_certain
from conversation_mcp.providers.listings import Listings
from conversation_mcp.providers.model_facts import Catalogue, ModelFacts
from conversation_mcp.providers.naming import Restrictions
from conversation_mcp.providers.resolving import (
    DOING,
    PERPLEXITY,
    Choice,
    Resolver,
    as_described,
    chooses_itself,
    kind_of,
)
from conversation_mcp.settings import Settings

if TYPE_CHECKING:
    from conversation_mcp.providers.definitions import Definition

SHOWN_MODELS = 3
HOW_TO_CONFIGURE: dict[Mode, str] = {
    "search": "Set PERPLEXITY_API_KEY, or start with --documents FOLDER to search your own files.",
    "deep_research": "Set PERPLEXITY_API_KEY, or start with --documents FOLDER to search your own files.",
    "chat": "Set a key such as OPENAI_API_KEY or OPENROUTER_API_KEY, or start a local server such as Ollama.",
}

Needed = Callable[[], Awaitable[int]]


async def _nothing() -> int:
    return 0


class Providers:
    """The configured providers, built when the first question comes."""

    def __init__(
        self, build: Callable[[], Iterable[Provider]], settings: Settings, now: Callable[[], datetime]
    ) -> None:
        self._build = build
        self._built: tuple[Provider, ...] | None = None
        self._settings = settings
        self._now = now
        self.catalogue = Catalogue(settings.models)
        self.listings = Listings()
        self.restrictions = Restrictions(settings)
        self.definitions: Mapping[str, Definition] = {}
        self._resolver = Resolver(self.catalogue, self.listings, self.restrictions)

    async def named(self, name: str | None) -> Provider | None:
        """Return the provider of that name, if it is configured."""
        return next((provider for provider in await self.all() if provider.name == name), None)

    async def choose(
        self, mode: Mode, model: str | None, *, level: str = "", kept: str | None = None, needed: Needed = _nothing
    ) -> Choice:
        """Return who answers: the model that was named, that was kept from the turn before, or the default.

        Args:
            mode: what is asked for.
            model: the model that the call names, or a provider, which then takes its own default.
            level: what a provider that has levels is asked for when no model is named.
            kept: the model of the conversation's last turn of this kind, which counts when none is named.
            needed: tells how large a window auto has to find, in tokens; asked only when auto chooses.

        Raises:
            ProviderNotConfiguredError: none that is configured can do it.
            InvalidInputError: the model is nobody's, or nobody's who can do it.
            ModelUnavailableError: the model may not be asked.
        """
        able = [provider for provider in await self.all() if mode in provider.abilities]
        if not able:
            raise ProviderNotConfiguredError(f"no provider can {DOING[mode]}. {HOW_TO_CONFIGURE[mode]}")
        wanted = model or kept or (self._settings.default_model if mode == "chat" else None)
        if wanted is None and chooses_itself(able[0]):
            return self._at_level(able[0], level)
        await self.catalogue.ready()
        if wanted is None:
            return await self._usual(mode, level, able, needed)
        if category := category_of(wanted, mode):
            return await self._auto(mode, category, level, able, needed)
        if wanted.casefold().startswith(f"{AUTO}:"):
            raise InvalidInputError(f"auto takes fast, balanced or deep, such as auto:deep; got {wanted!r}.")
        if alone := [provider for provider in able if provider.name == wanted.casefold() and as_described(provider)]:
            return await self._usual(mode, level, alone, needed)
        choice = await self._resolver.resolve(wanted, mode, await self.all())
        return choice if model else replace(choice, notices=())

    async def fallbacks(self, mode: Mode, first: Choice) -> list[Choice]:
        """Return the models that may stand in, by the user's own list; those that cannot be asked are left out."""
        found: list[Choice] = []
        for name in self._settings.fallback_models:
            try:
                choice = await self.choose(mode, name)
            except (InvalidInputError, ModelUnavailableError, ProviderNotConfiguredError):
                continue
            if (choice.provider.name, choice.model) != (first.provider.name, first.model):
                found.append(choice)
        return found

    async def larger(self, mode: Mode, tokens: int) -> tuple[str, ...]:
        """Return the best models that can be asked and take so much."""
        await self.catalogue.ready()
        able = [provider for provider in await self.all() if mode in provider.abilities]
        needed = round(tokens * 1.2)
        left = await self._candidates(able, needed)
        found: list[Candidate] = []
        while len(found) < SHOWN_MODELS and (candidate := best(left, "balanced")):
            left.remove(candidate)
            found.append(candidate)
        return tuple(candidate.name for candidate in found)

    async def all(self) -> tuple[Provider, ...]:
        """Return the configured providers in the order in which names are looked for."""
        if self._built is None:
            built = await to_thread.run_sync(lambda: tuple(map(self._writing, self._build())))
            self.definitions = await to_thread.run_sync(definitions_in, self._settings)
            self._resolver.definitions = self.definitions
            order = self._settings.provider_order
            rank = {kind: place for place, kind in enumerate(order)}
            self._built = tuple(sorted(built, key=lambda provider: rank.get(kind_of(provider), len(order))))
        return self._built

    def _writing(self, provider: Provider) -> Provider:
        """Return the provider; one that quotes together with the model that writes from its passages, if one is set."""
        model = self._settings.documents_model
        if model is None or not isinstance(provider, Reader):
            return provider
        from conversation_mcp.providers.with_model import WithModel  # noqa: PLC0415 -- most settings name no such model

        async def choose(needed: Needed) -> Choice:
            return await self.choose("chat", model, needed=needed)

        return WithModel(provider, choose, self.named)

    async def _usual(self, mode: Mode, level: str, able: list[Provider], needed: Needed) -> Choice:
        """Return the first provider that is there, with its own default."""
        for provider in able:
            if not isinstance(provider, Described) or chooses_itself(provider):
                return self._at_level(provider, level)
            if not is_certain(provider.configured):
                continue
            if model := provider.configured.model(mode):
                return await self._resolver.at(provider, model)
            return await self._auto(mode, None, level, [provider], needed)
        return await self._auto(mode, None, level, able, needed)

    async def _auto(
        self, mode: Mode, category: Category | None, level: str, able: list[Provider], needed: Needed
    ) -> Choice:
        wanted = category or category_of(AUTO, mode) or "balanced"
        needed_tokens = await needed()
        for name in self._settings.preferred_models:
            try:
                choice = await self._resolver.resolve(name, mode, able)
            except (InvalidInputError, ModelUnavailableError, ProviderNotConfiguredError):
                continue
            notice = f"auto chose {choice.name}: the first of PREFERRED_MODELS that can be asked"
            return replace(choice, notices=(notice, *choice.notices))
        chosen = best(await self._candidates(able, needed_tokens), wanted)
        if chosen is not None:
            provider = next(provider for provider in able if provider.name == chosen.provider)
            facts = await self._resolver.with_window(provider, chosen.facts)
            name = facts.id if chooses_itself(provider) else f"{provider.name}:{facts.id}"
            return Choice(provider, facts.id, name, facts, (reason(Candidate(provider.name, facts), wanted),))
        if itself := next((provider for provider in able if chooses_itself(provider)), None):
            return self._at_level(itself, level)
        raise await self._nobody(mode, able, needed_tokens)

    async def _nobody(self, mode: Mode, able: list[Provider], needed_tokens: int) -> ProviderError:
        """Return the error that says why auto found nobody: the conversation's size, the user's lists, or no key."""
        what = f"auto found no model that can {DOING[mode]}"
        if await self._candidates(able, 0):
            what += f" and takes about {needed_tokens:,} tokens"
        elif why := next(filter(None, (self._refusal(one, facts) for one in able for facts in self._known(one))), None):
            return ModelUnavailableError(f"{what}: {why}.")
        return ProviderNotConfiguredError(f"{what}. {HOW_TO_CONFIGURE[mode]} Or name a model, as provider:model.")

    def _refusal(self, provider: Provider, facts: ModelFacts) -> str | None:
        return self.restrictions.refusal(provider.name, facts.names)

    def _at_level(self, provider: Provider, level: str) -> Choice:
        why = self.restrictions.refusal(provider.name, [level]) if provider.name == PERPLEXITY else None
        if why is not None:
            raise ModelUnavailableError(f"{provider.name} must not be asked with {level}: {why}.")
        return Choice(provider)

    async def _candidates(self, able: list[Provider], needed_tokens: int) -> list[Candidate]:
        """Return what auto can choose from; servers that must be asked for it only count when there is nothing else."""
        today = self._now().date().isoformat()
        known = [Candidate(provider.name, facts) for provider in able for facts in self._known(provider)]
        if not known:
            asked = [provider for provider in able if as_described(provider)]
            listed = await self.listings.of_all(asked)
            known = [
                Candidate(provider.name, ModelFacts(model.id, context=model.context_tokens))
                for provider in asked
                for model in listed[provider.name] or ()
            ]
        return [
            candidate
            for candidate in known
            if may_be_chosen(candidate.facts, today, needed_tokens)
            and self.restrictions.refusal(candidate.provider, candidate.facts.names) is None
        ]

    def _known(self, provider: Provider) -> Iterable[ModelFacts]:
        described = as_described(provider)
        if described and (own := described.configured.default_model):
            return (self.catalogue.find(provider.name, own) or ModelFacts(own),)
        if described and not is_certain(described.configured):
            return ()
        return self.catalogue.models(provider.name)
