"""The composition of requests: what was read for a question, what its conversation keeps, and what of it is sent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from anyio import to_thread

from conversation_mcp.attaching.contents import FilesRead
from conversation_mcp.attaching.headers import media_type_of
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.prompting.budget import Budget, Shares, budget_of
from conversation_mcp.prompting.composed import Composition
from conversation_mcp.prompting.composition import compose
from conversation_mcp.prompting.correction import correction_of
from conversation_mcp.prompting.measure import Measure
from conversation_mcp.prompting.media import MediaLimits
from conversation_mcp.prompting.naming import few_enough, without_scans
from conversation_mcp.prompting.transcript import hashes_needed, key_of, said_in
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.providers.choosing.sight import image_tokens_of, images_at, pdfs_at, sight_of
from conversation_mcp.providers.model_facts import ASSUMED, answer_limit
from conversation_mcp.records.attached import AttachedImage, named_by
from conversation_mcp.records.chat import ImagePart
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.records.modes import ModeOf
from conversation_mcp.stores.base import Store
from conversation_mcp.text import listed
from conversation_mcp.turns.ask import Ask, Caller
from conversation_mcp.turns.chains import Chain, chain_of
from conversation_mcp.turns.disclosure import withheld_from
from conversation_mcp.turns.material import Material, Smaller
from conversation_mcp.turns.redaction import Redaction
from conversation_mcp.turns.turn import NO_ASK

NO_CHAIN = Chain(())
NOBODY = Caller(0)
NO_FILES = FilesRead()
NO_REDACTION = Redaction(())
MAX_SMALLER_BYTES = 32 * 1024 * 1024


class ReadFiles(Protocol):
    """Reads the files and images that a question names, below the folders that the caller allows."""

    async def __call__(
        self,
        files: Sequence[str],
        images: Sequence[str],
        *,
        roots: Sequence[Path] | None,
        pipe: bytes | None,
        handed: Mapping[str, bytes] | None,
    ) -> FilesRead:
        """Return what is there; `pipe` is what was piped in, `handed` what the call brings in place of paths.

        Raises:
            InvalidInputError: nothing of it can be sent; each path has its reason.
        """
        ...


class LackingError(Exception):
    """A request cannot be composed before more of what the conversation keeps is fetched."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__()
        self.conversation = conversation


class Composer:
    """Gathers the material of questions and composes requests from it, each for one model."""

    def __init__(
        self,
        store: Store,
        providers: Providers,
        open_files: Callable[[], ReadFiles],
        shares: Shares,
        mode_of: ModeOf,
        *,
        summarises: bool,
        redaction: Redaction = NO_REDACTION,
    ) -> None:
        self._store = store
        self._providers = providers
        self._open_files = open_files
        self._read_files: ReadFiles | None = None
        self._shares = shares
        self._mode_of = mode_of
        self._summarises = summarises
        self.redaction = redaction
        self._measure = Measure()
        self._smaller = Smaller(MAX_SMALLER_BYTES, lambda part: len(part.data) if part else 1)

    async def begin(self, ask: Ask, caller: Caller, stored: Conversation | None) -> Material:
        """Return the material of a question, redacted, with the conversations before it, but without files yet.

        Raises:
            ConversationNotFoundError, ConversationCorruptedError: the conversation to be continued cannot be read.
        """
        notices: tuple[str, ...] = ()
        if self.redaction.is_on:
            ask, notices = await to_thread.run_sync(self.redaction.question, ask)
        before = NO_CHAIN
        if stored is not None:
            chain = await chain_of(self._store, stored)
            before = replace(chain, conversations=chain.conversations[:-1])
        elif ask.continue_from is not None:
            before = await chain_of(self._store, await self._store.load(check_id(ask.continue_from)))
        return Material(ask, caller, before, stored, notices)

    async def read(self, material: Material) -> FilesRead:
        """Read what the question names, once.

        Raises:
            InvalidInputError: nothing of it can be sent; each path has its reason.
        """
        ask, caller = material.ask, material.caller
        if material.read is None and (ask.files or ask.images):
            # The first time imports a lot, which would hold up the event loop.
            self._read_files = self._read_files or await to_thread.run_sync(self._open_files)
            roots = await caller.roots() or None
            read = await self._read_files(ask.files, ask.images, roots=roots, pipe=caller.pipe, handed=caller.handed)
            if self.redaction.is_on:
                read, notices = await to_thread.run_sync(self.redaction.files, read)
                material.redacted += notices
            material.read = read
        return material.read or NO_FILES

    async def prepare(self, material: Material, choice: Choice) -> None:
        """Do what takes too long to be done under a lock: read, and make images smaller that are too large.

        Raises:
            InvalidInputError: nothing of it can be sent, or an image cannot be made smaller.
        """
        await self.read(material)
        if material.read and material.read.images and sight_of(choice) is not False:
            await to_thread.run_sync(material.images_for, choice)

    async def fetch(self, material: Material, conversation: Conversation, choice: Choice | None = None) -> None:
        """Get what requests in this conversation may carry, with images no larger than the chosen model takes."""
        for each in (*material.before.conversations, conversation):
            if lacking := hashes_needed((each,)) - material.sought:
                kept = await self._store.attachments.get(ConversationId(each.conversation_id), lacking)
                _take(material, each, kept)
                material.sought |= lacking
                if each is conversation:
                    material.held.update(kept)
        if choice and sight_of(choice) is not False and material.unfitted(choice):
            await to_thread.run_sync(material.fit_earlier, choice, self._smaller)

    async def composed(self, material: Material, conversation: Conversation, choice: Choice) -> Composition:
        """Fetch what is needed and compose; raises as `compose`."""
        await self.fetch(material, conversation, choice)
        return await to_thread.run_sync(self.compose, material, conversation, choice)

    def compose(self, material: Material, conversation: Conversation, choice: Choice) -> Composition:
        """Return the request of the question to one model.

        Raises:
            LackingError: `fetch` must be called first.
            ConversationTooLongError: the system text, the last exchange and the question do not fit.
            BlindModelError: the question names images, and the model does not see them.
        """
        chain = (*material.before.conversations, conversation)
        if hashes_needed(chain) - material.sought or (sight_of(choice) is not False and material.unfitted(choice)):
            raise LackingError(conversation)
        return self._compose(chain, material, choice, material.ask.question, self._read_for(material, choice))

    def answer_room(self, choice: Choice, composition: Composition) -> int | None:
        """Return how long the answer may be: its share of the window, or what is left; None if no window is known.

        An answer that filled the window would leave no room for the next question, to which it is always sent along.
        """
        share = None if choice.facts.source == ASSUMED else self._budget(choice).answer_tokens
        left = answer_limit(choice.facts, composition.tokens) if composition.is_counted else None
        return min((tokens for tokens in (share, left) if tokens is not None), default=None)

    async def shown(self, conversation: Conversation, choice: Choice) -> Composition:
        """Return what the next question of the conversation would carry to this model."""
        chain = await chain_of(self._store, conversation)
        material = Material(NO_ASK, NOBODY, replace(chain, conversations=chain.conversations[:-1]))
        await self.fetch(material, conversation, choice)
        return await to_thread.run_sync(self._compose, chain.conversations, material, choice, None, NO_FILES)

    async def needed_tokens(self, material: Material, stored: Conversation | None) -> int:
        """Return the estimated tokens of everything that may be sent with the question."""
        try:
            read = await self.read(material)
            if stored is not None:
                await self.fetch(material, stored)
        except ConversationMCPError:  # said when the question is asked
            read = NO_FILES
        return await to_thread.run_sync(self._all_tokens, material, stored, read)

    def _all_tokens(self, material: Material, stored: Conversation | None, read: FilesRead) -> int:
        chain = (*material.before.conversations, *([stored] if stored else []))
        tokens = self._measure.tokens
        named = {key for one in said_in(chain) for key in map(key_of, named_by(one)) if key} if chain else set[str]()
        return (
            tokens(material.ask.question)
            + sum(tokens(message.content) for each in chain for message in each.messages)
            + sum(tokens(text) for key, text in material.texts.items() if key in named)
            + sum(tokens(file.text) for file in read.files)
        )

    def _compose(
        self,
        chain: Sequence[Conversation],
        material: Material,
        choice: Choice,
        question: str | None,
        read: FilesRead,
    ) -> Composition:
        asked = choice.provider.name, choice.model or ""
        correction = partial(correction_of, chain, *asked, self._mode_of, self._measure)
        composition = compose(
            chain,
            question,
            read,
            material.contents_for(choice),
            self._budget(choice),
            sees=sight_of(choice),
            image_tokens=partial(image_tokens_of, choice),
            measure=self._measure,
            correction=correction,
            withheld=withheld_from(chain, choice, self._providers) - _keys_of(read),
            summarises=self._summarises,
            role=material.ask.role,
            media_limits=media_limits_of(choice),
        )
        more = (*material.redacted, *material.before.notices, *_more_left_out(read))
        composition = self.redaction.request(composition)
        return replace(composition, notices=(*more, *composition.notices)) if more else composition

    def _budget(self, choice: Choice) -> Budget:
        return budget_of(choice.facts, self._shares, choice.shown)

    def _read_for(self, material: Material, choice: Choice) -> FilesRead:
        """Return what was read, as many files as can be listed, with images that are no larger than accepted."""
        read = few_enough(material.read or NO_FILES, self._budget(choice).input_tokens)
        if not media_limits_of(choice).max_pages:
            read = without_scans(read, choice.shown)
        if not read.images or sight_of(choice) is False:  # a model without eyes is refused with other words
            return read
        return replace(read, images=material.images_for(choice))


def _more_left_out(read: FilesRead) -> tuple[str, ...]:
    """Return the notice about files that are too many to be listed."""
    if not read.more_left_out:
        return ()
    reasons = listed(f"{count:,} {reason}" for reason, count in read.more_left_out.items())
    return (f"{sum(read.more_left_out.values()):,} more files were left out: {reasons}",)


def media_limits_of(choice: Choice) -> MediaLimits:
    """Return what the chosen model takes in one request; one that sees no images takes no PDF as it is."""
    taken, images = pdfs_at(choice.provider), images_at(choice.provider)
    limits = MediaLimits(max_images=images.max_count, max_image_bytes=images.max_total_bytes)
    if not taken.accepted or sight_of(choice) is False:
        return limits
    pages = taken.pages_at(choice.facts.context)
    return limits._replace(max_bytes=taken.max_bytes, max_pages=pages, tokens_per_page=taken.tokens_per_page)


def _keys_of(read: FilesRead) -> frozenset[str]:
    """Return the hashes of what was read, as requests know it."""
    return frozenset((*(file.text_sha256 for file in read.files), *(image.sent.sha256 for image in read.images)))


def _take(material: Material, conversation: Conversation, kept: Mapping[str, bytes]) -> None:
    for one in said_in((conversation,)):
        for named in named_by(one):
            key = key_of(named)
            data = kept.get(key or "")
            if key is None or data is None:
                continue
            if isinstance(named, AttachedImage):
                material.images[key] = ImagePart(media_type_of(data) or named.media_type or "", data)
            else:
                material.texts[key] = data.decode("utf-8", "surrogatepass")
                if named.pages and named.sha256 and (pdf := kept.get(named.sha256)):
                    material.pdfs[key] = pdf
