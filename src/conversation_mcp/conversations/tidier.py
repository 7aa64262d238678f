"""Operations on whole conversations: branching, merging, labelling, and moving to the trash."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

from conversation_mcp.cancellation import finish
from conversation_mcp.conversations.branches import branched
from conversation_mcp.conversations.labels import Retag, with_facts
from conversation_mcp.conversations.merges import dropped_texts, merged
from conversation_mcp.errors import ConversationNotFoundError, InvalidInputError
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.records.relations import MAX_RELATIONS, Relation
from conversation_mcp.records.transcript import contents_named_in
from conversation_mcp.redacting.texts import Notices, TextRedaction
from conversation_mcp.stores.base import Report, Store, Trashed

LABELS = "the title and the tags"


class Tidier:
    """Changes conversations without asking a provider. Only a deletion waits for a running turn, `lock_wait_seconds`.

    `save` writes an answer that could not be written before, and raises if it still cannot be.
    """

    def __init__(
        self,
        store: Store,
        save: Callable[[ConversationId], Awaitable[None]],
        lock_wait_seconds: float,
        redaction: TextRedaction | None = None,
    ) -> None:
        self._store = store
        self._save = save
        self._lock_wait_seconds = lock_wait_seconds
        self._redaction = redaction or TextRedaction()

    async def branch(self, conversation_id: str, message_number: int) -> Conversation:
        """Start a conversation with the messages up to that number; the original is only read.

        Raises:
            InvalidInputError: no follow-up would work there; the message names the nearest numbers where one does.
        """
        checked = check_id(conversation_id)
        original = await self._store.load(checked)
        branched(original, message_number, checked)  # raises for a bad number before an id is reserved
        return await finish(self._open([checked], lambda new: branched(original, message_number, new)))

    async def merge(self, conversation_ids: Sequence[str]) -> tuple[Conversation, tuple[str, ...]]:
        """Start a conversation with the messages of all of these, which are only read; return notices of what it lacks.

        Raises:
            InvalidInputError: there are not at least two different ones.
        """
        checked = [check_id(conversation_id) for conversation_id in conversation_ids]
        originals = [await self._store.load(conversation_id) for conversation_id in checked]
        merged(originals, checked[0])  # raises for a bad merge before an id is reserved
        opened = await finish(self._open(checked, lambda new: merged(originals, new)))
        return opened, dropped_texts(originals)

    async def update(
        self,
        conversation_id: str,
        *,
        title: str | None = None,
        retag: Retag | None = None,
        archived: bool | None = None,
    ) -> tuple[Conversation, Notices]:
        """Change the given labels, and return notices; write nothing if none of them changes.

        Raises:
            InvalidInputError: the title or the tags are not valid.
        """
        checked = check_id(conversation_id)
        stored = await self._store.load(checked)
        changed, notices = await self._redaction.counted(
            LABELS, lambda clean: with_facts(stored, title, retag, archived, clean.text)
        )
        if changed != stored:
            clean = self._redaction.text
            changed = await self._store.update(checked, lambda now, _: with_facts(now, title, retag, archived, clean))
        return changed, notices

    async def relate(self, conversation_id: str, relation: Relation) -> Conversation:
        """Keep that another conversation belongs with this one, in place of what was kept of the two.

        Raises:
            InvalidInputError: both are the same, or too many are kept already.
            ConversationNotFoundError: one of the two does not exist.
        """
        checked, other = check_id(conversation_id), check_id(relation.conversation_id)
        if checked == other:
            raise InvalidInputError("a conversation cannot be related to itself.")
        await self._store.load(other)

        def related(stored: Conversation, _: str) -> Conversation:
            kept = _without(stored, other)
            if len(kept) >= MAX_RELATIONS:
                raise InvalidInputError(f"{checked} names {MAX_RELATIONS} conversations, the most that one keeps.")
            return stored.changed(related=(*kept, relation))

        return await self._store.update(checked, related)

    async def unrelate(self, conversation_id: str, other: str) -> bool:
        """Forget that another conversation belongs with this one, whichever of the two names the other.

        Returns whether one of them did.
        """
        count = 0
        for one, named in ((check_id(conversation_id), other), (check_id(other), conversation_id)):
            try:
                stored = await self._store.load(one)
            except ConversationNotFoundError:
                if one != other:
                    raise
                continue  # it is gone, and with it what it named
            if any(each.conversation_id == named for each in stored.related or ()):
                count += 1
                await self._store.update(one, partial(_unrelated, named))
        return count > 0

    async def delete(
        self,
        conversation_id: str,
        report: Report,
        *,
        wait_seconds: float | None = None,
        check: Callable[[Conversation], None] | None = None,
    ) -> Trashed:
        """Move the conversation, even a damaged one, to the trash once no turn runs on it.

        `check` receives the conversation under the lock; an error that it raises prevents the deletion.

        Raises:
            ConversationBusyError: a turn has been running for too long.
        """
        checked = check_id(conversation_id)

        async def on_wait(waited_seconds: float) -> None:
            await report(f"{checked} · waiting for its running question, {waited_seconds:.0f} s")

        wait_seconds = self._lock_wait_seconds if wait_seconds is None else wait_seconds
        lock = await self._store.acquire_turn(checked, wait_seconds, on_wait)
        try:
            await self._save(checked)  # before the file moves away from under an answer that is still in memory
            if check:
                check(await self._store.load(checked))
            return await self._store.trash.put(checked)
        finally:
            await lock.release()

    async def _open(
        self, originals: Iterable[ConversationId], begun: Callable[[ConversationId], Conversation]
    ) -> Conversation:
        """Start a conversation that has the contents that it names, however this ends."""
        conversation_id = await self._store.reserve()
        try:
            conversation = begun(conversation_id)
            await self._copy_contents(originals, conversation)
            await self._store.create(conversation)
        except BaseException:
            await self._store.unreserve(conversation_id)
            raise
        return await self._store.load(conversation_id)

    async def _copy_contents(self, originals: Iterable[ConversationId], conversation: Conversation) -> None:
        attachments, left = self._store.attachments, set(contents_named_in(conversation))
        for original in originals:
            if left and (found := await attachments.get(original, left)):
                await attachments.put(ConversationId(conversation.conversation_id), found)
                left -= found.keys()


def _unrelated(named: str, stored: Conversation, _: str) -> Conversation:
    return stored.changed(related=_without(stored, named) or None)


def _without(stored: Conversation, other: str) -> tuple[Relation, ...]:
    return tuple(each for each in stored.related or () if each.conversation_id != other)
