"""Memories: short texts kept with a conversation, found across all of them."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from secrets import token_hex
from typing import Any, NamedTuple

from anyio import to_thread

from conversation_mcp.conversations.labels import clean_tags
from conversation_mcp.conversations.memory_embedding import embedding_of
from conversation_mcp.conversations.memory_meaning import MemoryMeaning, NearTexts
from conversation_mcp.conversations.memory_ranking import LEAST_SHARE, RankedMemory, alike, ranked
from conversation_mcp.errors import Argument, InvalidInputError
from conversation_mcp.records.found import FoundMemory, MemoryPage, WantedMemories
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.memories import Memory, MemoryEmbedding
from conversation_mcp.records.memory_ids import same_text
from conversation_mcp.records.models import Conversation, ConversationId, iso
from conversation_mcp.redacting.texts import CountedTexts, Notices, TextRedaction
from conversation_mcp.stores.base import Report, Store, silent
from conversation_mcp.text import fold, storable

MAX_CHARS = 20_000
MAX_MEMORIES = 10_000
"""In one conversation, which is read as a whole."""
SHOWN_ALIKE = 3
CANDIDATES = 50
WITHIN = 2_000
"""Up to so many memories that meet the filters, the nearest are looked for among these alone, else among all."""
PATIENCE_SECONDS = 5.0
ID_BYTES = 6
MEMORY = "the memory"
CONTENT, TAGS, NUMBER = Argument("content"), Argument("tags"), Argument("messageNumber")


class KeptMemory(NamedTuple):
    """What became of a memory that was to be stored."""

    conversation: Conversation | None
    """The conversation that it was added to; None if the same text was there already."""
    found: FoundMemory
    alike: tuple[RankedMemory, ...]
    """Those that say nearly the same."""
    dimension: int | None = None
    """The length of its vector, if it has one already."""
    notices: Notices = ()
    """What was replaced before it was stored."""


class Memories:
    """Keeps and finds memories. They are words of whoever wrote them, never instructions.

    `open_meaning` returns what finds them by meaning, too, if anything does; `has_texts` is called when vectors may be
    missing.
    """

    def __init__(
        self,
        store: Store,
        now: Callable[[], datetime],
        redaction: TextRedaction,
        open_meaning: "Callable[[], MemoryMeaning | None]",
        has_texts: Callable[[], Awaitable[None]],
    ) -> None:
        self._store = store
        self._now = now
        self._redaction = redaction
        self._open_meaning = open_meaning
        self._has_texts = has_texts

    async def store(
        self,
        content: str,
        open_home: Callable[[], Awaitable[ConversationId]],
        *,
        conversation_id: str | None = None,
        message_number: int | None = None,
        tags: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
        embedding: Sequence[object] = (),
    ) -> KeptMemory:
        """Keep a memory, unless the very same text is kept already; name those that are nearly the same.

        `open_home` returns the conversation for one that names none.

        Raises:
            InvalidInputError: the text is blank or too long, the message does not exist, or the embedding is none.
            ConversationNotFoundError: there is no such conversation.
        """
        given, notices = await self._redaction.counted(MEMORY, partial(_given, content, tags, metadata))
        text = given["content"]
        vector, gone = await self._embedding(embedding, content, text) if embedding else (None, ())
        notices = (*notices, *gone)
        home = ConversationId(check_id(conversation_id)) if conversation_id else None
        # What another program or a hand has written counts, too; where the index is in memory only, it is made first.
        await self._store.freshen(PATIENCE_SECONDS, silent)
        same = await self._look_up(WantedMemories(same_texts=(same_text(text),)), 1)
        if same.found:
            return KeptMemory(None, same.found[0], (), notices=notices)
        near_ones = await self._like(text, vector)
        if home is None:
            home = await open_home()
        memory = Memory.of(
            memory_id=f"mem-{token_hex(ID_BYTES)}",
            **given,
            created_at=iso(self._now()),
            message_number=message_number,
            embedding=vector,
        )

        def added(stored: Conversation, _: str) -> Conversation:
            if message_number is not None and not 1 <= message_number <= len(stored.messages):
                count = len(stored.messages)
                raise InvalidInputError(NUMBER, f" must be from 1 to {count}, the messages of {home}.")
            if len(stored.memories or ()) >= MAX_MEMORIES:
                raise InvalidInputError(f"{home} has {MAX_MEMORIES:,} memories, the most that one conversation keeps.")
            return stored.changed(memories=(*(stored.memories or ()), memory))

        conversation = await self._store.update(home, added)
        await self._take_in()
        dimension = await self._take_in_meaning(text, is_given=vector is not None)
        return KeptMemory(conversation, _found(memory, conversation), tuple(near_ones), dimension, notices)

    async def search(
        self, wanted: WantedMemories, limit: int, threshold: float | None = None, report: Report = silent
    ) -> tuple[list[RankedMemory], tuple[str, ...]]:
        """Return memories, best first, with how much they have in common with the query; newest first without one.

        Raises:
            ConversationNotFoundError: the conversation that is named does not exist.
        """
        await self._require(wanted.conversation_id)
        missing = await self._store.freshen(PATIENCE_SECONDS, report)
        if not wanted.query:
            page = await self._look_up(wanted, limit)
            return [RankedMemory(each, 0.0) for each in page.found], tuple(filter(None, (missing, *page.notices)))
        await self._has_texts()  # other programs, such as an import, may have brought some
        page = await self._look_up(wanted, max(limit, CANDIDATES))
        near, meant = await self._meant(wanted.query, wanted)
        found = ranked(wanted.query, page.found, meant, near.texts)
        kept = [each for each in found if each.similarity >= (threshold or 0.0)]
        return kept[:limit], tuple(filter(None, (missing, near.notice, *page.notices)))

    async def page(self, wanted: WantedMemories, limit: int, offset: int, report: Report = silent) -> MemoryPage:
        """Return memories, newest first; raises as `search`."""
        await self._require(wanted.conversation_id)
        await self._store.freshen(PATIENCE_SECONDS, report)
        return await self._look_up(wanted, limit, offset)

    async def update(
        self,
        memory_id: str,
        conversation_id: str,
        *,
        content: str | None = None,
        tags: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> tuple[FoundMemory, Notices]:
        """Change a memory, and return notices; what is None stays as it is. The words that it had are erased.

        Raises:
            InvalidInputError: the conversation has no such memory, or the new text is not valid.
        """
        given, notices = await self._redaction.counted(MEMORY, partial(_given, content, tags, metadata))
        # An id that was made from the text must not change with it.
        changes = {**given, "updated_at": iso(self._now()), "memory_id": memory_id}
        gone = {name for name, value in changes.items() if value is None}

        def changed(memory: Memory) -> Memory:
            copy = memory.model_copy(update=changes)
            copy.model_fields_set.difference_update(gone)
            return copy.with_own_embedding()

        conversation = await self._rewrite(memory_id, conversation_id, changed)
        if content is not None:
            await self._take_in_meaning(str(changes["content"]))
        # The first: a file that was edited by hand may have the same text twice.
        memory = next(each for each in conversation.memories or () if each.id == memory_id)
        return _found(memory, conversation), notices

    async def delete(self, memory_id: str, conversation_id: str) -> Conversation:
        """Forget a memory: it leaves the file, and its words leave the index.

        Raises:
            InvalidInputError: the conversation has no such memory.
        """
        return await self._rewrite(memory_id, conversation_id, lambda _: None)

    async def _rewrite(
        self, memory_id: str, conversation_id: str, change: Callable[[Memory], Memory | None]
    ) -> Conversation:
        checked = ConversationId(check_id(conversation_id))

        def rewritten(stored: Conversation, _: str) -> Conversation:
            memories = stored.memories or ()
            if all(each.id != memory_id for each in memories):
                raise InvalidInputError(f"{checked} has no memory {memory_id!r}.")
            new = (change(each) if each.id == memory_id else each for each in memories)
            return stored.changed(memories=tuple(each for each in new if each is not None) or None)

        conversation = await self._store.update(checked, rewritten)
        await self._take_in()
        await to_thread.run_sync(self._store.finder.erase, {checked})
        return conversation

    async def _require(self, conversation_id: ConversationId | None) -> None:
        if conversation_id is not None and not await self._store.exists(conversation_id):
            await self._store.load(conversation_id)  # raises the reason

    async def _embedding(
        self, numbers: Sequence[object], content: str, text: str
    ) -> tuple[MemoryEmbedding | None, Notices]:
        meaning = await to_thread.run_sync(self._open_meaning)
        knows_vectors = self._store.finder.remembered is not None
        read = partial(embedding_of, numbers, text, meaning, knows_vectors=knows_vectors)
        vector = await to_thread.run_sync(read)
        if same_text(storable(content)) != same_text(text):
            return None, ("the embedding was not kept, because something of its text was replaced",)
        return vector, ()

    async def _like(self, text: str, vector: MemoryEmbedding | None) -> list[RankedMemory]:
        page = await self._look_up(WantedMemories(query=text, least_share=LEAST_SHARE), CANDIDATES)
        near, meant = await self._meant(text, WantedMemories(), vector)
        others = {each.memory.memory_id: each for each in (*page.found, *meant)}
        return alike(text, tuple(others.values()), near.texts)[:SHOWN_ALIKE]

    async def _meant(
        self, text: str, wanted: WantedMemories, vector: MemoryEmbedding | None = None
    ) -> tuple[NearTexts, tuple[FoundMemory, ...]]:
        """Return what is near a text in meaning, and those memories of it that meet the filters."""
        meaning = await to_thread.run_sync(self._open_meaning)
        if meaning is None:
            return NearTexts({}), ()
        filters, within = wanted._replace(query=""), None
        if filters != WantedMemories():
            own = await self._look_up(filters, WITHIN)
            within = None if own.has_more else {same_text(each.memory.content) for each in own.found}
        near = await to_thread.run_sync(meaning.near, text, within, vector)
        page = await self._look_up(filters._replace(same_texts=tuple(near.texts)), CANDIDATES) if near.texts else None
        return near, page.found if page else ()

    async def _take_in_meaning(self, text: str, *, is_given: bool = False) -> int | None:
        meaning = await to_thread.run_sync(self._open_meaning)
        take_in = partial(meaning.take_in, same_text(text), is_given=is_given) if meaning else None
        dimension = await to_thread.run_sync(take_in) if take_in else None
        if meaning and dimension is None:  # a server makes it, or it failed
            await self._has_texts()
        return dimension

    async def _look_up(self, wanted: WantedMemories, limit: int, skip: int = 0) -> MemoryPage:
        folded = wanted._replace(tags=tuple(fold(tag) for tag in wanted.tags))
        return await to_thread.run_sync(partial(self._store.finder.memories, folded, limit, skip))

    async def _take_in(self) -> None:
        await to_thread.run_sync(self._store.finder.take_in_written)


def _given(
    content: str | None, tags: Iterable[str] | None, metadata: Mapping[str, Any] | None, clean: CountedTexts
) -> dict[str, Any]:
    """Return the fields that are given as they are stored; None where nothing is left of one."""
    given: dict[str, Any] = {}
    if content is not None:
        given["content"] = clean.text(_checked(content))
    if tags is not None:
        given["tags"] = clean_tags(tags, clean.text) or None
    if metadata is not None:
        given["metadata"] = dict(clean.data(metadata)) or None
    return given


def _checked(content: str) -> str:
    text = storable(content).strip()
    if not text:
        raise InvalidInputError(CONTENT, " must not be blank.")
    if len(text) > MAX_CHARS:
        raise InvalidInputError(CONTENT, f" has {len(text):,} characters; at most {MAX_CHARS:,} are kept.")
    return text


def _found(memory: Memory, conversation: Conversation) -> FoundMemory:
    from conversation_mcp.records.facts import milliseconds_of
    from conversation_mcp.records.memory_facts import memories_of
    from conversation_mcp.records.titles import title_of_conversation

    data = {"createdAt": conversation.created_at, "memories": [memory.data()]}
    [facts] = memories_of(data, milliseconds_of)
    return FoundMemory(facts, ConversationId(conversation.conversation_id), title_of_conversation(conversation))
