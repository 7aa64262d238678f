"""Redaction of what was stored before it was on."""

from collections import Counter
from collections.abc import Collection, Mapping
from functools import partial

from anyio import to_thread

from conversation_mcp.conversations.rewriting import KeptContents, cleaned
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.records.transcript import contents_named_in
from conversation_mcp.redacting.kinds import SensitiveKind
from conversation_mcp.redacting.texts import TextRedaction
from conversation_mcp.stores.base import Store, Trashed
from conversation_mcp.stores.headway import Headway

Counts = Counter[SensitiveKind]


class StoredRedaction:
    """Looks for what would be redacted, and redacts it where it is stored. Each step can be repeated."""

    def __init__(self, store: Store, redaction: TextRedaction) -> None:
        self._store = store
        self._redaction = redaction

    async def look(self, conversation_id: str) -> Counts:
        """Return how often something of each kind stands in the conversation and in what its questions name."""
        checked = check_id(conversation_id)
        return await self._counts(await self._store.load(checked), await self._contents(checked))

    async def look_at_trashed(self, trashed: Trashed) -> Counts:
        """Return the same of a conversation in the trash."""
        conversation = await self._store.trash.load(trashed)
        contents = await self._store.trash.contents(trashed, contents_named_in(conversation))
        return await self._counts(conversation, contents)

    async def redact(self, conversation_id: str) -> Counts:
        """Replace what `look` finds, and return how often; where it finds nothing, nothing is written.

        Exports that are kept with a redacted conversation are removed, because they hold its former words.

        Raises:
            ConversationBusyError: a question of it is being answered.
        """
        checked = check_id(conversation_id)
        lock = await self._store.acquire_turn(checked, 0, _wait)
        try:
            contents = await self._contents(checked)
            before = await self._store.load(checked)
            if counts := await self._counts(before, contents):
                await self._replace(checked, before, contents)
            return counts
        finally:
            await lock.release()

    async def forget(self, ids: Collection[ConversationId]) -> None:
        """Remove what these conversations no longer hold from the index; also what a run that was stopped has left.

        Raises:
            IndexNotErasedError: the index cannot be written.
        """
        finder = self._store.finder
        await to_thread.run_sync(finder.refresh, Headway())
        await to_thread.run_sync(finder.erase, ids)

    async def _replace(self, conversation_id: ConversationId, before: Conversation, contents: KeptContents) -> None:
        attachments = self._store.attachments
        # Removes no content here, but the exports.
        await attachments.remove(conversation_id, ())
        after, kept = await to_thread.run_sync(self._cleaned, before, contents)
        if new := {name: kept[name] for name in contents_named_in(after) if name in kept and name not in contents}:
            await attachments.put(conversation_id, new)  # first, so that nothing is named that is not there
        await self._store.update(conversation_id, lambda stored, _: self._cleaned(stored, contents)[0])
        await attachments.remove(conversation_id, contents.keys() - kept.keys())

    async def _contents(self, conversation_id: ConversationId) -> Mapping[str, bytes]:
        """Return all that is kept, also what nothing names any more after a run that was stopped."""
        return await self._store.attachments.get(conversation_id, await self._store.attachments.sizes(conversation_id))

    async def _counts(self, conversation: Conversation, contents: KeptContents) -> Counts:
        clean = self._redaction.counting()
        await to_thread.run_sync(partial(cleaned, conversation, contents, clean))
        return clean.counts

    def _cleaned(self, conversation: Conversation, contents: KeptContents) -> tuple[Conversation, KeptContents]:
        return cleaned(conversation, contents, self._redaction.counting())


async def _wait(_seconds: float) -> None:
    """Report to nobody; a conversation whose question is being answered is not waited for."""
