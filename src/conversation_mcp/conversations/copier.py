"""Copies of conversations from one store into another, with attachments and trash, for one owner."""

import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Literal, NamedTuple

from anyio import to_thread

from conversation_mcp.errors import ConversationMCPError, CopyDiffersError
from conversation_mcp.records.codec import decode, encode
from conversation_mcp.records.models import Conversation, ConversationId, parse_time
from conversation_mcp.records.transcript import contents_named_in
from conversation_mcp.stores.base import Store, Trashed

Outcome = Literal["copied", "same", "different", "running", "failed"]
GetContents = Callable[[Collection[str]], Awaitable[Mapping[str, bytes]]]


class Copied(NamedTuple):
    """What became of one conversation."""

    conversation_id: ConversationId
    outcome: Outcome
    is_deleted: bool = False
    problem: str | None = None


class _Original(NamedTuple):
    """A conversation to copy, the hashes of what belongs to it, and where the contents are had from."""

    conversation: Conversation
    hashes: frozenset[str]
    get: GetContents

    @property
    def digest(self) -> str:
        return _digest(self.conversation)


class Copier:
    """Copies what is in one store and not in the other. What is in both is compared, never changed.

    It can be ended at any moment: the next run goes on where it ended. Each copy is read back from its store.
    """

    def __init__(self, source: Store, target: Store, *, dry_run: bool = False) -> None:
        self._source = source
        self._target = target
        self._dry_run = dry_run

    async def run(self) -> AsyncGenerator[Copied]:
        """Copy one conversation after the other, first those in the trash; a failure does not stop the others."""
        # The latest deletion is the first entry; this way round, the copies have the same order.
        for trashed in reversed(await self._source.trash.entries()):
            yield await self._told(trashed.conversation_id, self._trashed(trashed), is_deleted=True)
        for conversation_id in await to_thread.run_sync(self._source.finder.ids):
            yield await self._told(conversation_id, self._live(conversation_id), is_deleted=False)

    async def _told(self, conversation_id: ConversationId, copying: Awaitable[Outcome], *, is_deleted: bool) -> Copied:
        try:
            return Copied(conversation_id, await copying, is_deleted)
        except ConversationMCPError as error:
            return Copied(conversation_id, "failed", is_deleted, error.message)

    async def _live(self, conversation_id: ConversationId) -> Outcome:
        source = self._source
        if await source.turn_is_held(conversation_id):
            return "running"
        conversation = await source.load(conversation_id)
        hashes = frozenset(await source.attachments.sizes(conversation_id))
        original = _Original(conversation, hashes, partial(source.attachments.get, conversation_id))
        if await self._target.exists(conversation_id):
            if await self._stored_digest(conversation_id) != original.digest:
                return "different"
            return await self._attach(original)
        return await self._put(original)

    async def _trashed(self, trashed: Trashed) -> Outcome:
        source, target = self._source.trash, self._target
        conversation_id = trashed.conversation_id
        conversation = await source.load(trashed)
        names = frozenset(contents_named_in(conversation))
        original = _Original(conversation, names, partial(source.contents, trashed))
        for there in await target.trash.entries():
            if there.conversation_id == conversation_id and _digest(await target.trash.load(there)) == original.digest:
                return "same"
        if await target.exists(conversation_id):  # a run may have ended between the two steps below
            if await self._stored_digest(conversation_id) != original.digest:
                return "different"
            await self._attach(original)
        else:
            await self._put(original)
        if not self._dry_run:
            await target.trash.put(conversation_id, parse_time(trashed.deleted_at))
        return "copied"

    async def _put(self, original: _Original) -> Outcome:
        if self._dry_run:
            return "copied"
        conversation_id = ConversationId(original.conversation.conversation_id)
        await self._target.reserve_this(conversation_id)  # or it was, by a run that ended before the next step
        await self._attach(original)
        await self._target.create(original.conversation)
        if await self._stored_digest(conversation_id) != original.digest:
            raise CopyDiffersError(self._target.location(conversation_id), conversation_id)
        return "copied"

    async def _attach(self, original: _Original) -> Outcome:
        """Put the contents that are missing; those that the source has lost stay lost."""
        attachments, conversation_id = self._target.attachments, ConversationId(original.conversation.conversation_id)
        missing = sorted(original.hashes.difference(await attachments.sizes(conversation_id)))
        if self._dry_run or not missing:
            return "copied" if missing else "same"
        for name in missing:  # one at a time: together they may not fit in memory
            contents = await original.get([name])
            await attachments.put(conversation_id, contents)
            if (await attachments.get(conversation_id, [name])).keys() != contents.keys():
                raise CopyDiffersError(self._target.location(conversation_id), conversation_id)
        return "copied"

    async def _stored_digest(self, conversation_id: ConversationId) -> str:
        """Read what is stored rather than what the store may have in memory."""
        body = await to_thread.run_sync(self._target.finder.read, conversation_id)
        return _digest(decode(body, self._target.location(conversation_id), conversation_id))


def _digest(conversation: Conversation) -> str:
    # Of the file as it is exported: each store keeps a conversation in a form of its own.
    return hashlib.sha256(encode(conversation)).hexdigest()
