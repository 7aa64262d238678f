"""Which provider answers with which model: what was named, else the best that can. Never a silent substitution."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
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
from conversation_mcp.providers.base import Mode, Provider, Reader
from conversation_mcp.providers.choosing.auto import (
    AUTO,
    Candidate,
    Category,
    best,
    category_of,
    reason,
)
from conversation_mcp.providers.choosing.candidates import Candidates
from conversation_mcp.providers.choosing.chosen import DOING, PERPLEXITY, Choice, as_described, chooses_itself, kind_of
from conversation_mcp.providers.choosing.listings import Listings
from conversation_mcp.providers.choosing.names import Restrictions
from conversation_mcp.providers.choosing.resolution import Resolver
from conversation_mcp.providers.choosing.stay import Kept, check_writer
from conversation_mcp.providers.configured import Described, definitions_in, is_certain
from conversation_mcp.providers.model_facts import Catalogue
from conversation_mcp.providers.sides import side_of
from conversation_mcp.providers.whereabouts import DOCUMENTS, HERE, NOWHERE, OUTSIDE, Side, Whereabouts
from conversation_mcp.settings import Settings

if TYPE_CHECKING:
    from conversation_mcp.providers.definitions import Definition

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
        self.catalogue = Catalogue(settings.models)
        self.listings = Listings()
        self.restrictions = Restrictions(settings)
        self.definitions: Mapping[str, Definition] = {}
        self._resolver = Resolver(self.catalogue, self.listings, self.restrictions)
        self._candidates = Candidates(self.catalogue, self.listings, self.restrictions, now)

    async def named(self, name: str | None) -> Provider | None:
        """Return the provider of that name, if it is configured."""
        return next((provider for provider in await self.all() if provider.name == name), None)

    async def choose(
        self,
        mode: Mode,
        model: str | None,
        *,
        level: str = "",
        kept: Sequence[Kept] = (),
        needed: Needed = _nothing,
        whereabouts: Whereabouts = NOWHERE,
    ) -> Choice:
        """Return who answers: the model that was named, who answered last and can do it, or the default.

        Args:
            mode: what is asked for.
            model: the model that the call names, or a provider, which then takes its own default.
            level: what a provider that has levels is asked for when no model is named.
            kept: whom the conversation stays with when no model is named, the last one first.
            needed: tells how large a window auto has to find, in tokens; asked only when auto chooses.
            whereabouts: who has the words. Names are looked for there first, and what never left this machine is not
                sent anywhere else by auto while there is anybody here.

        Raises:
            ProviderNotConfiguredError: none that is configured can do it.
            InvalidInputError: the model is nobody's, or nobody's who can do it.
            ModelUnavailableError: the model may not be asked.
        """
        everybody = await self.all()
        able = [provider for provider in everybody if mode in provider.abilities]
        if not able:
            raise ProviderNotConfiguredError(f"no provider can {DOING[mode]}. {HOW_TO_CONFIGURE[mode]}")
        if model is None and (staying := await self._stay(mode, level, kept, able, needed, whereabouts)):
            return staying
        wanted = model or (self._settings.default_model if mode == "chat" else None)
        if wanted is None and chooses_itself(able[0]):
            return self._at_level(able[0], level)
        await self.catalogue.ready()
        if wanted is None:
            return await self._usual(mode, level, able, needed, whereabouts)
        if category := category_of(wanted, mode):
            return await self._auto(mode, category, level, able, needed, whereabouts)
        if wanted.casefold().startswith(f"{AUTO}:"):
            raise InvalidInputError(
                f"auto takes fast, balanced or deep, such as auto:deep; got {wanted!r}.", field="model"
            )
        if alone := [provider for provider in able if provider.name == wanted.casefold() and as_described(provider)]:
            return await self._usual(mode, level, alone, needed, whereabouts)
        return await self._resolver.resolve(wanted, mode, everybody, whereabouts)

    async def _stay(
        self,
        mode: Mode,
        level: str,
        kept: Sequence[Kept],
        able: list[Provider],
        needed: Needed,
        whereabouts: Whereabouts,
    ) -> Choice | None:
        """Return who answered last and can do what is asked, if anybody; a research takes a model for researches."""
        known = {provider.name: provider for provider in able}
        there = next((one for one in kept if one.provider in known), None)
        if there is None:
            return None
        provider = known[there.provider]
        model = there.model if there.is_of_mode or mode == "deep_research" else there.other_model
        if model is None and chooses_itself(provider):
            return self._at_level(provider, level)
        await self.catalogue.ready()
        if model is None:
            try:
                return await self._usual(mode, level, [provider], needed, whereabouts)
            except ProviderNotConfiguredError:
                if (model := there.other_model) is None:
                    raise
        choice = await self._resolver.at(provider, model.removeprefix(f"{provider.name}:"))
        return replace(choice, notices=())

    async def fallbacks(self, mode: Mode, first: Choice, whereabouts: Whereabouts) -> list[Choice]:
        """Return the models of the user's own list; those that cannot be asked are left out."""
        found: list[Choice] = []
        known = whereabouts.also_at(first.provider.name, first.side)
        for name in self._settings.fallback_models:
            try:
                choice = await self.choose(mode, name, whereabouts=known)
            except (InvalidInputError, ModelUnavailableError, ProviderNotConfiguredError):
                continue
            if (choice.provider.name, choice.model) != (first.provider.name, first.model):
                found.append(choice)
        return found

    async def larger(
        self, mode: Mode, tokens: int, whereabouts: Whereabouts
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the best models that can be asked and take so much: those that have the words already, and others."""
        await self.catalogue.ready()
        able = [provider for provider in await self.all() if mode in provider.abilities]
        return await self._candidates.larger(able, tokens, whereabouts)

    async def keeping(self, mode: Mode) -> tuple[Mode, tuple[str, ...]]:
        """Return the names of the best on this machine that can do it, or chat where none can."""
        await self.catalogue.ready()
        return await self._candidates.keeping(await self.all(), mode)

    def may_stand_in(self, other: Choice, first: Choice, whereabouts: Whereabouts) -> bool:
        """Tell whether the words, which were meant for the first one, may go to another one that nobody named."""
        if self.shares_always or whereabouts.holds(other.provider.name, other.side):
            return True
        return first.side == OUTSIDE and not whereabouts.is_kept_here

    @property
    def shares_always(self) -> bool:
        """Whether words may leave this machine without being sent away by name."""
        return self._settings.sharing == "always"

    @property
    def sides(self) -> Mapping[str, Side]:
        """On which side each configured provider is, once they are built."""
        return {provider.name: side_of(provider) for provider in self._built or ()}

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
        from conversation_mcp.providers.choosing.with_model import WithModel

        return WithModel(provider, self.writer, self.named)

    async def writer(self, needed: Needed, whereabouts: Whereabouts) -> Choice:
        """Return the model that writes from passages of documents.

        Raises:
            WordsStayError: it is outside of this machine and would get words that were not said about documents.
        """
        setting = self._settings.documents_model
        choice = await self.choose("chat", setting, needed=needed, whereabouts=NOWHERE.also_at(DOCUMENTS, HERE))
        if not self.shares_always:
            check_writer(choice, whereabouts)
        return choice

    async def require_writer(self, choice: Choice, whereabouts: Whereabouts) -> None:
        """Raise WordsStayError when a model would write for the choice that must not get the passages."""
        if self._settings.documents_model and isinstance(choice.provider, Reader):
            with suppress(InvalidInputError, ProviderError):  # said when the model is really asked
                await self.writer(_nothing, whereabouts)

    async def _usual(
        self, mode: Mode, level: str, able: list[Provider], needed: Needed, whereabouts: Whereabouts
    ) -> Choice:
        """Return the first provider that is there, with its own default."""
        for provider in able:
            if not isinstance(provider, Described) or chooses_itself(provider):
                return self._at_level(provider, level)
            if not is_certain(provider.configured):
                continue
            if model := provider.configured.model(mode):
                return await self._resolver.at(provider, model)
            return await self._auto(mode, None, level, [provider], needed, whereabouts)
        return await self._auto(mode, None, level, able, needed, whereabouts)

    async def _auto(
        self,
        mode: Mode,
        category: Category | None,
        level: str,
        able: list[Provider],
        needed: Needed,
        whereabouts: Whereabouts,
    ) -> Choice:
        wanted = category or category_of(AUTO, mode) or "balanced"
        needed_tokens = await needed()
        stays_here = whereabouts.is_kept_here and not self.shares_always
        is_alone_here = all(side_of(provider) == HERE for provider in able)
        for here_only in (True, False) if stays_here or is_alone_here else (False,):
            if choice := await self._best(mode, wanted, able, needed_tokens, here_only=here_only):
                return choice
        if itself := next((provider for provider in able if chooses_itself(provider)), None):
            return self._at_level(itself, level)
        raise await self._nobody(mode, able, needed_tokens)

    async def _best(
        self, mode: Mode, wanted: Category, able: list[Provider], needed_tokens: int, *, here_only: bool
    ) -> Choice | None:
        near = [provider for provider in able if side_of(provider) == HERE] if here_only else able
        for name in self._settings.preferred_models:
            try:
                choice = await self._resolver.resolve(name, mode, near)
            except (InvalidInputError, ModelUnavailableError, ProviderNotConfiguredError):
                continue
            if here_only and choice.side == OUTSIDE:
                continue
            notice = f"auto chose {choice.name}: the first of PREFERRED_MODELS that can be asked"
            return replace(choice, notices=(notice, *choice.notices))
        chosen = best(await self._candidates.of(able, needed_tokens, here_only=here_only), wanted)
        if chosen is None:
            return None
        provider = next(provider for provider in able if provider.name == chosen.provider)
        facts = await self._resolver.with_window(provider, chosen.facts)
        name = facts.id if chooses_itself(provider) else f"{provider.name}:{facts.id}"
        return Choice(provider, facts.id, name, facts, (reason(Candidate(provider.name, facts), wanted),))

    async def _nobody(self, mode: Mode, able: list[Provider], needed_tokens: int) -> ProviderError:
        """Return the error that says why auto found nobody: the conversation's size, the user's lists, or no key."""
        what = f"auto found no model that can {DOING[mode]}"
        if await self._candidates.of(able, 0):
            what += f" and takes about {needed_tokens:,} tokens"
        elif why := self._candidates.refusal(able):
            return ModelUnavailableError(f"{what}: {why}.")
        return ProviderNotConfiguredError(f"{what}. {HOW_TO_CONFIGURE[mode]} Or name a model, as provider:model.")

    def _at_level(self, provider: Provider, level: str) -> Choice:
        why = self.restrictions.refusal(provider.name, [level]) if provider.name == PERPLEXITY else None
        if why is not None:
            raise ModelUnavailableError(f"{provider.name} must not be asked with {level}: {why}.")
        return Choice(provider)
