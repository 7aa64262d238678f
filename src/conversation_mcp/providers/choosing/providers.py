"""The configured providers, and the choice among them: the named one, else the best that can answer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from conversation_mcp.errors import (
    InvalidInputError,
    ModelUnavailableError,
    ProviderError,
    ProviderNotConfiguredError,
    WordsStayError,
)
from conversation_mcp.providers.base import Provider, as_defined, as_reader
from conversation_mcp.providers.choosing.auto import Auto
from conversation_mcp.providers.choosing.choice import (
    DOING,
    Choice,
    Kept,
    Need,
    Needed,
    chooses_itself,
    is_agent,
    kind_of,
    nothing,
)
from conversation_mcp.providers.choosing.listings import Listings
from conversation_mcp.providers.choosing.ranking import AUTO, USUAL, Category, category_of
from conversation_mcp.providers.choosing.resolution import Resolver
from conversation_mcp.providers.choosing.restrictions import Restrictions
from conversation_mcp.providers.configuration import definitions_in, how_to_configure
from conversation_mcp.providers.model_facts import Catalogue
from conversation_mcp.providers.sides import side_of
from conversation_mcp.providers.whereabouts import HERE, NOWHERE, OUTSIDE, Side, Whereabouts
from conversation_mcp.records.modes import Mode
from conversation_mcp.settings import Settings
from conversation_mcp.sources import variable_of
from conversation_mcp.text import listed

if TYPE_CHECKING:
    from conversation_mcp.providers.definitions import Definition


class Providers:
    """The configured providers, built on first use."""

    def __init__(
        self, build: Callable[[], Iterable[Provider]], settings: Settings, now: Callable[[], datetime]
    ) -> None:
        self._build = build
        self._built: tuple[Provider, ...] | None = None
        self.sides: Mapping[str, Side] = {}
        """The side of each configured provider; empty before the first use."""
        self._settings = settings
        self.catalogue = Catalogue(settings.models)
        self.listings = Listings()
        self.restrictions = Restrictions(settings)
        self._resolver = Resolver(self.catalogue, self.listings, self.restrictions)
        self._auto = Auto(self._resolver, settings, now)

    @property
    def definitions(self) -> "Mapping[str, Definition]":
        """All known providers, configured or not; empty before the first use."""
        return self._resolver.definitions

    async def named(self, name: str | None) -> Provider | None:
        """Return the provider of that name, if it is configured."""
        return next((provider for provider in await self.all() if provider.name == name), None)

    async def choose(
        self,
        mode: Mode,
        model: str | None,
        *,
        preset: str = "",
        kept: Sequence[Kept] = (),
        needed: Needed = nothing,
        whereabouts: Whereabouts = NOWHERE,
        has_images: bool = False,
    ) -> Choice:
        """Return whom to ask: the named model, the last provider that answered and can do it, or the default.

        Args:
            mode: the mode of the question.
            model: the model that the call names, or a provider, which then uses its own default.
            preset: the preset to ask a provider with presets for, if no model is named.
            kept: the providers that the conversation stays with if no model is named, the last one first.
            needed: returns the size of window that auto must find, in tokens; called only if auto chooses.
            whereabouts: the providers that have the words. They are searched for a name first, and auto sends words
                that never left this machine to no other place while a model here can answer.
            has_images: whether auto passes over models that are known not to see.

        Raises:
            ProviderNotConfiguredError: no configured provider can do it.
            InvalidInputError: no provider has the model, or none that has it can do it.
            ModelUnavailableError: the model may not be asked.
        """
        everybody = await self.all()
        able = [provider for provider in everybody if mode in provider.abilities]
        if not able:
            how = how_to_configure(mode, self.definitions)
            raise ProviderNotConfiguredError(f"no provider can {DOING[mode]}. {how}")
        need = Need(mode, preset, needed, whereabouts, has_images)
        if model is None and (staying := await self._stay(need, kept, able)):
            return staying
        wanted = model or (self._settings.default_model if mode == "chat" else None)
        # Before the catalogue: this is the usual case, and does not need the reading of it.
        if wanted is None and chooses_itself(able[0]):
            return self._resolver.at_preset(able[0], preset)
        await self.catalogue.ready()
        if wanted is None:
            return await self._usual(need, able)
        if category := category_of(wanted, mode):
            return await self._best(need, category, able)
        if wanted.casefold().startswith(f"{AUTO}:"):
            raise InvalidInputError(
                f"auto must be followed by fast, balanced or deep, such as auto:deep; got {wanted!r}.", field="model"
            )
        if alone := [provider for provider in able if provider.name == wanted.casefold() and as_defined(provider)]:
            return await self._usual(need, alone)
        return await self._resolver.resolve(wanted, mode, everybody, whereabouts)

    async def _stay(self, need: Need, kept: Sequence[Kept], able: list[Provider]) -> Choice | None:
        """Return the last provider that answered and supports the mode, if any.

        A research keeps only the model of an earlier research: a model for chat or search may not be able to do one.
        An agent does nothing else.
        """
        known = {provider.name: provider for provider in able}
        there = next((one for one in kept if one.provider in known), None)
        if there is None:
            return None
        provider = known[there.provider]
        model = there.model if there.is_of_mode or need.mode == "deep_research" else there.other_model
        if model and need.mode != "deep_research" and is_agent(provider, model):
            model = None
        if model is None and chooses_itself(provider):
            return self._resolver.at_preset(provider, need.preset)
        await self.catalogue.ready()
        if model is None:
            try:
                return await self._usual(need, [provider])
            except ProviderNotConfiguredError:
                if (model := there.other_model) is None:
                    raise
        choice = await self._resolver.at(provider, model.removeprefix(f"{provider.name}:"))
        return choice._replace(notices=())  # said when the model was first chosen

    async def fallbacks(self, mode: Mode, first: Choice, whereabouts: Whereabouts) -> list[Choice]:
        """Return the choices of the user's own fallback list; those that cannot be asked are left out."""
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
        self, mode: Mode, tokens: int, whereabouts: Whereabouts, refused: Choice
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the best models with a window that large: those that disclose the words to no one new, and others."""
        await self.catalogue.ready()
        able = [provider for provider in await self.all() if mode in provider.abilities]
        return await self._auto.larger(able, tokens, whereabouts, refused)

    async def seeing(
        self, mode: Mode, whereabouts: Whereabouts, tokens: int = 0
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the best models that see images and have a window that large, in two groups as `larger` does."""
        await self.catalogue.ready()
        able = [provider for provider in await self.all() if mode in provider.abilities]
        return await self._auto.seeing(able, tokens, whereabouts)

    async def keeping(self, mode: Mode) -> tuple[Mode, tuple[str, ...]]:
        """Return the names of the best models on this machine for the mode, or for chat if none can do it."""
        await self.catalogue.ready()
        return await self._auto.keeping(await self.all(), mode)

    def may_stand_in(self, other: Choice, first: Choice, whereabouts: Whereabouts) -> bool:
        """Tell whether the words, which were meant for the first choice, may go to another one that was not named."""
        if self.shares_always or whereabouts.holds(other.provider.name, other.side):
            return True
        return first.side == OUTSIDE and not whereabouts.is_kept_here

    @property
    def shares_always(self) -> bool:
        """Whether words may leave this machine although the call does not name the recipient."""
        return self._settings.sharing == "always"

    async def all(self) -> tuple[Provider, ...]:
        """Return the configured providers in the order in which they are searched for a name."""
        if self._built is None:
            # In a thread: this imports the adapters and reads their data files.
            built = await to_thread.run_sync(lambda: tuple(map(self._writing, self._build())))
            self._resolver.definitions = await to_thread.run_sync(definitions_in, self._settings)
            order = self._settings.provider_order
            rank = {kind: place for place, kind in enumerate(order)}
            self._built = tuple(sorted(built, key=lambda provider: rank.get(kind_of(provider), len(order))))
            self.sides = {provider.name: side_of(provider) for provider in self._built}
        return self._built

    def _writing(self, provider: Provider) -> Provider:
        """Return the provider; a reader is combined with the model that writes from its passages, if one is set."""
        reader = as_reader(provider)
        if self._settings.documents_model is None or reader is None:
            return provider
        from conversation_mcp.providers.choosing.writer.provider import Writer

        return Writer(reader, partial(self._model_for, provider.name), self.named)

    async def _model_for(self, reader: str, needed: Needed, whereabouts: Whereabouts) -> Choice:
        """Return the model that writes from the passages of a reader.

        Raises:
            WordsStayError: the model is outside this machine and would get words of other models here.
        """
        setting = self._settings.documents_model
        choice = await self.choose("chat", setting, needed=needed, whereabouts=NOWHERE.also_at(reader, HERE))
        if not self.shares_always:
            _check_writer(choice, reader, whereabouts)
        return choice

    async def require_writer(self, choice: Choice, whereabouts: Whereabouts) -> None:
        """Raise WordsStayError if the choice is a reader whose writing model must not get the conversation."""
        if self._settings.documents_model and as_reader(choice.provider):
            with suppress(InvalidInputError, ProviderError):  # raised again when the model is asked
                await self._model_for(choice.provider.name, nothing, whereabouts)

    async def _usual(self, need: Need, able: list[Provider]) -> Choice:
        """Return the first provider that surely exists, with its own default model."""
        for provider in able:
            defined = as_defined(provider)
            if defined is None or chooses_itself(provider):
                return self._resolver.at_preset(provider, need.preset)
            if not defined.configured.is_certain:
                continue
            if model := defined.configured.model(need.mode):
                return await self._resolver.at(provider, model)
            return await self._best(need, USUAL[need.mode], [provider])
        return await self._best(need, USUAL[need.mode], able)

    async def _best(self, need: Need, category: Category, able: list[Provider]) -> Choice:
        here_first = need.whereabouts.is_kept_here and not self.shares_always
        return await self._auto.choose(need, category, able, here_first=here_first)


def _check_writer(choice: Choice, reader: str, whereabouts: Whereabouts) -> None:
    """Raise WordsStayError if the model that writes from documents must not get the conversation.

    The setting allows it the documents and the conversation about them, but not words that only a model on this machine
    has received.
    """
    others = [name for name in whereabouts.here if name != reader]
    if choice.side == HERE or not whereabouts.is_kept_here or not others:
        return
    raise WordsStayError(
        choice.naming,
        f"this conversation, which only {listed(others)} on this machine had until now,",
        f"Unset {variable_of('documents_model')} to have passages quoted instead",
    )
