"""The choice behind `auto`, or without any name: the best known model that the user allows."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from conversation_mcp.errors import (
    InvalidInputError,
    ModelUnavailableError,
    ProviderError,
    ProviderNotConfiguredError,
)
from conversation_mcp.providers.base import Provider, as_defined, as_reader
from conversation_mcp.providers.choosing.choice import DOING, Choice, Need, chooses_itself
from conversation_mcp.providers.choosing.ranking import Candidate, Category, best, may_be_chosen, reason
from conversation_mcp.providers.choosing.resolution import Resolver
from conversation_mcp.providers.choosing.sight import images_at, sees, sight_of
from conversation_mcp.providers.configuration import how_to_configure
from conversation_mcp.providers.model_facts import ModelFacts
from conversation_mcp.providers.sides import side_of
from conversation_mcp.providers.whereabouts import HERE, NOWHERE, Whereabouts
from conversation_mcp.records.modes import Mode
from conversation_mcp.settings import Settings

SHOWN_MODELS = 3
ROOM = 1.2
"""The check before sending keeps a part of each window free: a model that just fits would be refused, too."""


class Auto:
    """Chooses among the known models; the catalogue must be ready."""

    def __init__(self, resolver: Resolver, settings: Settings, now: Callable[[], datetime]) -> None:
        self._resolver = resolver
        self._settings = settings
        self._now = now

    async def choose(self, need: Need, category: Category, able: Sequence[Provider], *, here_first: bool) -> Choice:
        """Return the best model of the able providers, or one that chooses itself; `here_first` prefers this machine.

        Raises:
            ProviderNotConfiguredError, ModelUnavailableError: no model can be asked; the message says why.
        """
        needed_tokens = await need.tokens()
        is_alone_here = all(side_of(provider) == HERE for provider in able)
        # The first round looks at this machine alone; a server here may run some models elsewhere.
        for here_only in (True, False) if here_first or is_alone_here else (False,):
            if choice := await self._largest_of(need, category, able, needed_tokens, here_only=here_only):
                return choice
        for provider in able:
            if chooses_itself(provider) and (images_at(provider).accepted or not need.has_images):
                return self._resolver.at_preset(provider, need.preset)
        raise self._nobody(need, able)

    async def _largest_of(
        self, need: Need, wanted: Category, able: Sequence[Provider], needed_tokens: int, *, here_only: bool
    ) -> Choice | None:
        """Return the best model that takes everything; if none does, the best of those that take the most."""
        fitting_tokens = needed_tokens
        while not (choice := await self._best(need, wanted, able, fitting_tokens, here_only=here_only)):
            if not fitting_tokens:
                return None
            fitting_tokens //= 2
        return choice

    async def larger(
        self, providers: Sequence[Provider], tokens: int, whereabouts: Whereabouts, refused: Choice
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the best models with a window that large: those that disclose the words to no one new, and others.

        The refused one is not among them, even if its window is known only to its server.
        """
        small = (refused.provider.name, refused.facts.id)

        def is_other(provider: Provider, facts: ModelFacts) -> bool:
            return (provider.name, facts.id) != small

        return await self._offered(providers, tokens, whereabouts, is_other)

    async def seeing(
        self, providers: Sequence[Provider], tokens: int, whereabouts: Whereabouts
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the best models that are known to see, with a window that large, as `larger` does."""
        return await self._offered(
            providers, tokens, whereabouts, lambda provider, facts: sees(provider, facts) is True
        )

    async def _offered(
        self,
        providers: Sequence[Provider],
        tokens: int,
        whereabouts: Whereabouts,
        fits: Callable[[Provider, ModelFacts], bool],
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        needed_tokens = round(tokens * ROOM)
        by_name = {provider.name: provider for provider in providers}
        everywhere = [
            one for one in await self._candidates(providers, needed_tokens) if fits(by_name[one.provider], one.facts)
        ]
        here = [one for one in await self._candidates(providers, needed_tokens, here_only=True) if one in everywhere]
        near = [one for one in everywhere if one in here or one.provider in whereabouts.outside]
        if whereabouts == NOWHERE:
            near = everywhere
        names = _best_names(near, SHOWN_MODELS)
        return names, _best_names([one for one in everywhere if one not in near], SHOWN_MODELS - len(names))

    async def keeping(self, providers: Sequence[Provider], mode: Mode) -> tuple[Mode, tuple[str, ...]]:
        """Return the names of the best models on this machine for the mode, or for chat if none can do it."""
        doing: Mode = mode
        for doing in (mode, "chat"):
            able = [provider for provider in providers if doing in provider.abilities and side_of(provider) == HERE]
            readers = tuple(provider.name for provider in able if as_reader(provider))
            models = _best_names(await self._candidates(able, 0, here_only=True), SHOWN_MODELS)
            if names := (*readers, *models)[:SHOWN_MODELS]:
                return doing, names
        return doing, ()

    async def _candidates(
        self, providers: Iterable[Provider], needed_tokens: int, *, here_only: bool = False
    ) -> list[Candidate]:
        """Return the models that may be chosen; servers are asked for theirs only if no model is known otherwise."""
        able = {provider.name: provider for provider in providers if not here_only or side_of(provider) == HERE}
        today = self._now().date().isoformat()
        known = [Candidate(provider.name, facts) for provider in able.values() for facts in self._known(provider)]
        if not known:
            asked = [provider for provider in able.values() if as_defined(provider)]
            listed = await self._resolver.listings.of_all(asked)
            known = [
                Candidate(provider.name, ModelFacts(model.id, context=model.context_tokens, images=model.images))
                for provider in asked
                for model in listed[provider.name] or ()
            ]
        return [
            candidate
            for candidate in known
            if may_be_chosen(candidate.facts, today, needed_tokens)
            and not (here_only and side_of(able[candidate.provider], candidate.facts.id) != HERE)
            and self._resolver.restrictions.refusal(candidate.provider, candidate.facts.names) is None
        ]

    async def _best(
        self, need: Need, wanted: Category, able: Sequence[Provider], needed_tokens: int, *, here_only: bool
    ) -> Choice | None:
        near = [provider for provider in able if side_of(provider) == HERE] if here_only else able
        for name in self._settings.preferred_models:
            # A preferred model that cannot be asked is no error: the next one is tried.
            try:
                choice = await self._resolver.resolve(name, need.mode, near)
            except (InvalidInputError, ModelUnavailableError, ProviderNotConfiguredError):
                continue
            if (here_only and choice.side != HERE) or (need.has_images and sight_of(choice) is False):
                continue
            notice = f"auto chose {choice.name}: the first of PREFERRED_MODELS that can be asked"
            return choice._replace(notices=(notice, *choice.notices))
        chosen = best(await self._fitting(need, able, needed_tokens, here_only=here_only), wanted)
        if chosen is None:
            return None
        provider = next(provider for provider in able if provider.name == chosen.provider)
        facts = await self._resolver.with_window(provider, chosen.facts)
        name = facts.id if chooses_itself(provider) else f"{provider.name}:{facts.id}"
        return Choice(provider, facts.id, name, facts, (reason(Candidate(provider.name, facts), wanted),))

    async def _fitting(
        self, need: Need, able: Sequence[Provider], needed_tokens: int, *, here_only: bool = False
    ) -> list[Candidate]:
        """Return the candidates that can do what is asked; one that may see is good enough."""
        found = await self._candidates(able, needed_tokens, here_only=here_only)
        by_name = {provider.name: provider for provider in able}
        return [one for one in found if not need.has_images or sees(by_name[one.provider], one.facts) is not False]

    def _nobody(self, need: Need, able: Sequence[Provider]) -> ProviderError:
        """Return the error that says why there is no model: the user's lists, or no key."""
        what = f"auto found no model that can {DOING[need.mode]}{' and see images' if need.has_images else ''}"
        if why := self._refusal(able):
            return ModelUnavailableError(f"{what}: {why}.")
        how = how_to_configure(need.mode, self._resolver.definitions)
        return ProviderNotConfiguredError(f"{what}. {how} Or name a model, as provider:model.")

    def _refusal(self, providers: Iterable[Provider]) -> str | None:
        """Return why the first forbidden model may not be asked, or None."""
        refusals = (
            self._resolver.restrictions.refusal(provider.name, facts.names)
            for provider in providers
            for facts in self._known(provider)
        )
        return next(filter(None, refusals), None)

    def _known(self, provider: Provider) -> Iterable[ModelFacts]:
        defined = as_defined(provider)
        if defined and (own := defined.configured.default_model):
            return (self._resolver.catalogue.find(provider.name, own) or ModelFacts(own),)
        # A local server at its usual address may not run, and what it has loaded no catalogue knows.
        if defined and not defined.configured.is_certain:
            return ()
        return self._resolver.catalogue.models(provider.name)


def _best_names(candidates: Iterable[Candidate], count: int) -> tuple[str, ...]:
    """Return the names of the best candidates, the best one first."""
    left, found = list(candidates), list[Candidate]()
    while len(found) < count and (candidate := best(left, "balanced")):
        left.remove(candidate)
        found.append(candidate)
    return tuple(candidate.name for candidate in found)
