"""The models that can be chosen without being named, within what the user allows."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from conversation_mcp.providers.base import Mode, Provider
from conversation_mcp.providers.choosing.auto import Candidate, best, may_be_chosen
from conversation_mcp.providers.choosing.chosen import as_described
from conversation_mcp.providers.choosing.listings import Listings
from conversation_mcp.providers.choosing.names import Restrictions
from conversation_mcp.providers.configured import is_certain
from conversation_mcp.providers.model_facts import Catalogue, ModelFacts
from conversation_mcp.providers.sides import side_of
from conversation_mcp.providers.whereabouts import DOCUMENTS, HERE, NOWHERE, Whereabouts

SHOWN_MODELS = 3


class Candidates:
    """Knows what auto can choose from; the catalogue must be ready."""

    def __init__(
        self, catalogue: Catalogue, listings: Listings, restrictions: Restrictions, now: Callable[[], datetime]
    ) -> None:
        self._catalogue = catalogue
        self._listings = listings
        self._restrictions = restrictions
        self._now = now

    async def of(
        self, providers: Iterable[Provider], needed_tokens: int, *, here_only: bool = False
    ) -> list[Candidate]:
        """Return the models; servers that must be asked for theirs only count when there is nothing else."""
        able = {provider.name: provider for provider in providers if not here_only or side_of(provider) == HERE}
        today = self._now().date().isoformat()
        known = [Candidate(provider.name, facts) for provider in able.values() for facts in self._known(provider)]
        if not known:
            asked = [provider for provider in able.values() if as_described(provider)]
            listed = await self._listings.of_all(asked)
            known = [
                Candidate(provider.name, ModelFacts(model.id, context=model.context_tokens))
                for provider in asked
                for model in listed[provider.name] or ()
            ]
        return [
            candidate
            for candidate in known
            if may_be_chosen(candidate.facts, today, needed_tokens)
            and not (here_only and side_of(able[candidate.provider], candidate.facts.id) != HERE)
            and self._restrictions.refusal(candidate.provider, candidate.facts.names) is None
        ]

    async def larger(
        self, providers: Sequence[Provider], tokens: int, whereabouts: Whereabouts
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the best models that take so much: those that have the words already, and others."""
        needed = round(tokens * 1.2)
        here = await self.of(providers, needed, here_only=True)
        everywhere = [*here, *(one for one in await self.of(providers, needed) if one not in here)]
        near = [one for one in everywhere if one in here or one.provider in whereabouts.outside]
        if whereabouts == NOWHERE:
            near = everywhere
        names = _best_names(near, SHOWN_MODELS)
        return names, _best_names([one for one in everywhere if one not in near], SHOWN_MODELS - len(names))

    async def keeping(self, providers: Sequence[Provider], mode: Mode) -> tuple[Mode, tuple[str, ...]]:
        """Return the names of the best on this machine that can do it, or chat where none can."""
        doing: Mode = mode
        for doing in (mode, "chat"):
            able = [provider for provider in providers if doing in provider.abilities and side_of(provider) == HERE]
            documents = tuple(provider.name for provider in able if provider.name == DOCUMENTS)
            models = _best_names(await self.of(able, 0, here_only=True), SHOWN_MODELS)
            if names := (*documents, *models)[:SHOWN_MODELS]:
                return doing, names
        return doing, ()

    def refusal(self, providers: Iterable[Provider]) -> str | None:
        """Return why the first model that may not be asked may not, or None."""
        refusals = (
            self._restrictions.refusal(provider.name, facts.names)
            for provider in providers
            for facts in self._known(provider)
        )
        return next(filter(None, refusals), None)

    def _known(self, provider: Provider) -> Iterable[ModelFacts]:
        described = as_described(provider)
        if described and (own := described.configured.default_model):
            return (self._catalogue.find(provider.name, own) or ModelFacts(own),)
        if described and not is_certain(described.configured):
            return ()
        return self._catalogue.models(provider.name)


def _best_names(candidates: Iterable[Candidate], count: int) -> tuple[str, ...]:
    """Return the names of the best ones."""
    left, found = list(candidates), list[Candidate]()
    while len(found) < count and (candidate := best(left, "balanced")):
        left.remove(candidate)
        found.append(candidate)
    return tuple(candidate.name for candidate in found)
