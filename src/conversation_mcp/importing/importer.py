"""The importer, which stores the conversations of a source, each as a whole or not at all."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Literal

import anyio
from anyio import to_thread

from conversation_mcp.cancellation import finish
from conversation_mcp.errors import ConversationMCPError, FilesystemError
from conversation_mcp.importing.base import ImportProblem, Item, LeftOut, Sourced, Unplaced
from conversation_mcp.importing.builder import built, created_at, grown, holds, is_grown
from conversation_mcp.importing.known_memories import KnownMemories
from conversation_mcp.importing.redaction import as_redacted, redacted
from conversation_mcp.records.ids import EPOCH, SHAPE, check_id
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.records.origins import Origin, mark_of
from conversation_mcp.records.transcript import contents_named_in
from conversation_mcp.redacting.kinds import SensitiveKind
from conversation_mcp.redacting.texts import TextRedaction
from conversation_mcp.stores.base import Store
from conversation_mcp.text import counted

MAX_KEPT_PROBLEMS = 1000
AT_ONCE = 8
Outcome = Literal["imported", "extended", "unchanged", "changed", "deleted", "empty", "problem"]


@dataclass
class Report:
    """The result of an import, or what a dry run would do."""

    counts: Counter[Outcome] = field(default_factory=Counter["Outcome"])
    left_out: Counter[LeftOut] = field(default_factory=Counter["LeftOut"])
    redacted: Counter[SensitiveKind] = field(default_factory=Counter["SensitiveKind"])
    """How often something of each kind was replaced in what was imported."""
    undated: int = 0
    """The number of imported conversations without a time in the source; they have that of the import."""
    problems: list[ImportProblem] = field(default_factory=list[ImportProblem])
    """The first 1,000; `counts` has the number of all."""

    def add_problem(self, problem: ImportProblem, outcome: Outcome = "problem") -> None:
        """Count a problem, and keep it if it is one of the first."""
        self.counts[outcome] += 1
        if len(self.problems) < MAX_KEPT_PROBLEMS:
            self.problems.append(problem)


class Importer:
    """Imports conversations into a store; those deleted there only if `deleted`. A dry run writes nothing."""

    def __init__(
        self,
        store: Store,
        now: Callable[[], datetime],
        redaction: TextRedaction,
        *,
        dry_run: bool = False,
        deleted: bool = False,
    ) -> None:
        self.report = Report()
        self._store = store
        self._now = now
        self._redaction = redaction
        self._dry_run = dry_run
        self._with_deleted = deleted
        self._deleted: frozenset[str] = frozenset()
        self._known: dict[Origin, ConversationId | None] = {}
        self._in_hand: dict[Origin, anyio.Event] = {}
        self._failure: FilesystemError | None = None
        self._elsewhere = KnownMemories(store)

    async def run(self, items: Iterator[tuple[str, Item]]) -> None:
        """Import all items, a few at a time, because durable writes mostly wait for the disk.

        Raises:
            FilesystemError: the store cannot be written any more; what was imported before is complete.
        """
        self._known = dict(await self._store.imports())
        self._deleted = frozenset() if self._with_deleted else await self._store.trash.marks()
        turn = anyio.Lock()
        async with anyio.create_task_group() as tasks:
            for _ in range(AT_ONCE):
                tasks.start_soon(self._work, items, turn)
        if self._failure is not None:
            raise self._failure

    async def _work(self, items: Iterator[tuple[str, Item]], turn: anyio.Lock) -> None:
        while self._failure is None:
            async with turn:  # a generator that is running cannot be asked by another thread
                found = await to_thread.run_sync(partial(next, items, None))
            if found is None:
                return
            await self._import(*found)

    async def _import(self, source: str, item: Item) -> None:
        """Import an item unless it is stored already; a problem with it is reported and does not stop the others."""
        if isinstance(item, ImportProblem):
            self.report.add_problem(item)
            return
        if isinstance(item, Unplaced):
            self.report.left_out.update(item.left_out)
            return
        origin = _origin(source, item)
        # A branch names its trunk as its parent, and so has to wait until that has an id.
        if (trunk := self._in_hand.get((source, item.branch_of or ""))) is not None:
            await trunk.wait()
        while (earlier := self._in_hand.get(origin)) is not None:  # a source may hold the same conversation twice
            await earlier.wait()
        self._in_hand[origin] = anyio.Event()
        try:
            item, counts = await self._redacted(item)
            outcome = await self._take(source, item)
        except ConversationMCPError as error:
            self.report.add_problem(ImportProblem(item.place, error.message.rstrip(".")))
            return
        finally:
            self._in_hand.pop(origin).set()
        if outcome == "changed":
            reason = "differs from what was imported before, which was left unchanged"
            self.report.add_problem(ImportProblem(item.place, reason), outcome)
        else:
            self.report.counts[outcome] += 1
        if outcome in {"imported", "extended", "empty"}:
            self.report.left_out.update(item.left_out)
            self.report.redacted.update(counts)

    async def _redacted(self, found: Sourced) -> tuple[Sourced, Counter[SensitiveKind]]:
        if not self._redaction.is_on:
            return found, Counter()
        return await to_thread.run_sync(redacted, found, self._redaction)

    async def _take(self, source: str, found: Sourced) -> Outcome:
        if found.whole is None and not found.messages and not found.unanswered and not found.memories:
            return "empty"
        found = await self._elsewhere.without_known(found, self._known.get(_origin(source, found)))
        origin = _origin(source, found)
        if origin in self._known or found.all_known:
            earlier = self._known.get(origin)
            return "unchanged" if earlier is None else await self._again(earlier, found)
        if (outcome := await self._under_an_earlier_id(source, found)) is not None:
            return outcome
        if (same := await self._stored_under_its_id(found)) is not None:
            return await self._again(same, found)
        if mark_of(origin) in self._deleted:  # last, because the mark stays when a conversation is imported again
            return "deleted"
        self._known[origin] = None if self._dry_run else await self._create(source, found)
        self.report.undated += found.whole is None and created_at(found, EPOCH) == EPOCH
        return "imported"

    async def _create(self, source: str, found: Sourced) -> ConversationId:
        moment = self._now()
        wanted = check_id(found.id) if SHAPE.fullmatch(found.id) else None
        parent = self._known.get((source, found.branch_of)) if found.branch_of else None
        try:
            if wanted is not None and await self._store.reserve_this(wanted):
                conversation_id = wanted
            else:
                conversation_id = await self._store.reserve(created_at(found, moment))
            await self._store_new(built(found, source, conversation_id, moment, parent), found)
        except FilesystemError as error:
            if isinstance(error.__cause__, OSError):  # the folder or the disk, not this conversation
                self._failure = error
            raise
        return conversation_id

    async def _store_new(self, conversation: Conversation, found: Sourced) -> None:
        """Store a conversation under its reserved id, with the contents that it names; on failure, free the id."""
        try:
            self._note_lack(found, await self._keep_contents(conversation, found))
            await self._store.create(conversation)
        except BaseException:
            await finish(self._store.unreserve(ConversationId(conversation.conversation_id)))
            raise

    async def _keep_contents(self, conversation: Conversation, found: Sourced) -> int:
        """Keep the contents that the conversation names and that are not here yet; return how many are nowhere."""
        conversation_id = ConversationId(conversation.conversation_id)
        if not (named := set(contents_named_in(conversation))):
            return 0
        lacking = named - (await self._store.attachments.sizes(conversation_id)).keys()
        contents = await to_thread.run_sync(found.contents, lacking)
        if contents:
            await self._store.attachments.put(conversation_id, contents)
        return len(lacking - contents.keys())

    def _note_lack(self, found: Sourced, count: int) -> None:
        if count:
            reason = f"lacks {counted(count, 'content')} of its files, or has them damaged; the rest is imported"
            self.report.add_problem(ImportProblem(found.place, reason))

    async def _again(self, conversation_id: ConversationId, found: Sourced) -> Outcome:
        """Compare with the earlier import, which may have been followed up here or have grown in the source."""
        stored = await self._store.load(conversation_id)
        outcome = await to_thread.run_sync(self._compared, stored, found)
        if outcome == "unchanged" and not self._dry_run:
            await self._keep_contents(stored, found)  # some may have been lost here
        if self._dry_run or outcome != "extended":
            return outcome

        def extend(stored: Conversation, _now: str) -> Conversation:
            seen = as_redacted(stored, self._redaction)
            return grown(seen, found) if _compared(seen, found) == "extended" else stored

        after = await self._store.update(conversation_id, extend)
        self._note_lack(found, await self._keep_contents(after, found))
        return "extended" if holds(after, found) else "changed"

    def _compared(self, stored: Conversation, found: Sourced) -> Outcome:
        """Compare as if the stored conversation had been redacted, too, when it was imported."""
        return _compared(as_redacted(stored, self._redaction), found)

    async def _under_an_earlier_id(self, source: str, found: Sourced) -> Outcome | None:
        """Return the outcome if the conversation is stored under an earlier id of it, which others may have too."""
        for earlier_id in found.earlier_ids:
            while (earlier := self._in_hand.get((source, earlier_id))) is not None:
                await earlier.wait()
            if (stored := self._known.get((source, earlier_id))) is not None:
                outcome = await self._again(stored, found)
                if outcome != "changed":
                    return outcome
        return None

    async def _stored_under_its_id(self, found: Sourced) -> ConversationId | None:
        """Return the id of our own conversation if it is stored here, and not another one with the same id."""
        if found.whole is None or not SHAPE.fullmatch(found.id):
            return None
        conversation_id = check_id(found.id)
        if not await self._store.exists(conversation_id):
            return None
        stored = await self._store.load(conversation_id)
        return conversation_id if stored.created_at == found.whole.created_at else None


def _compared(stored: Conversation, found: Sourced) -> Outcome:
    if holds(stored, found):
        return "unchanged"
    return "extended" if is_grown(stored, found) else "changed"


def _origin(source: str, found: Sourced) -> Origin:
    """Return the origin of the conversation: one that was exported by us keeps the origin of its own import."""
    if found.whole is not None and found.whole.imported is not None:
        return found.whole.imported.source, found.whole.imported.id
    return source, found.id
