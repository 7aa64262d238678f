"""Branches, deletions and pruning where something is odd or happens meanwhile."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from tests.fixtures.library import Shelf, id_of
from tests.fixtures.stores import Clock, conversation, ignore, started

from conversation_mcp.conversations.branches import branched
from conversation_mcp.conversations.pruner import Action, Pruner
from conversation_mcp.conversations.tidier import Tidier
from conversation_mcp.conversations.trash_can import TrashCan
from conversation_mcp.errors import ConversationBusyError, FilesystemError, IndexNotErasedError, InvalidInputError
from conversation_mcp.records.costs import total_cost
from conversation_mcp.records.models import Conversation, ConversationId, Message
from conversation_mcp.stores.files.keeper import IndexKeeper
from conversation_mcp.stores.files.store import FileStore

NEW = ConversationId("20260131-1769817600999")
DAY: dict[Action, timedelta] = {"trash": timedelta(days=1)}
HOURS: dict[Action, timedelta] = {"archive": timedelta(hours=1)}


def of_roles(*roles: Any) -> Conversation:
    messages = tuple(Message(role=role, content=f"{number}") for number, role in enumerate(roles, 1))
    return conversation(ConversationId(id_of(1))).changed(messages=messages)


def branch_points(*roles: str) -> list[int]:
    points: list[int] = []
    for number in range(1, len(roles) + 1):
        try:
            branched(of_roles(*roles), number, NEW)
        except InvalidInputError:
            continue
        points.append(number)
    return points


async def silent(text: str) -> None:
    del text


@pytest.mark.parametrize(
    ("roles", "points"),
    [
        (("system", "user", "assistant", "user", "assistant"), [1, 3, 5]),
        (("user", "assistant"), [2]),
        (("system", "developer", "user"), [1, 2]),
        (("user", "system", "assistant", "developer", "user"), [3, 4]),
        (("user", "assistant", "tool", "assistant"), [2, 4]),
        (("user", "user"), []),
        ((), []),
    ],
)
def test_a_branch_ends_where_a_question_can_follow(roles: tuple[str, ...], points: list[int]) -> None:
    assert branch_points(*roles) == points


@pytest.mark.parametrize(
    "parent", [None, 3, {}, {"messageCount": "2"}, {"messageCount": -1}, {"messageCount": None}, {"messageCount": []}]
)
def test_an_odd_parent_hides_no_cost(parent: object) -> None:
    answer = {"role": "assistant", "content": "", "usage": {"costUsd": 0.5}}
    assert total_cost({"messages": [answer], "parent": parent}) == 0.5
    assert total_cost({"messages": [answer], "parent": {"messageCount": 1}}) is None


async def test_a_conversation_whose_answer_cannot_be_saved_is_not_deleted(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "logs", now=Clock())
    conversation_id = await started(store)

    async def fail(_conversation_id: ConversationId) -> None:
        raise FilesystemError("disk", "no space left")

    with pytest.raises(FilesystemError):
        await Tidier(store, fail, 0).delete(conversation_id, silent)
    assert await store.exists(conversation_id)
    assert not await store.turn_is_held(conversation_id)


async def test_a_branch_that_is_cancelled_is_made_whole_or_not_at_all(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "logs", now=Clock())
    conversation_id = await started(store, "one?", "One.")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Tidier(store, silent, 0).branch, conversation_id, 2)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    folders = [path for path in (tmp_path / "logs").iterdir() if path.is_dir()]
    assert all((folder / "conversation.json").exists() for folder in folders)


@asynccontextmanager
async def pruning(shelf: Shelf, now: datetime) -> AsyncGenerator[tuple[Pruner, FileStore]]:
    """Yield what prunes the shelf at that time, and its store."""
    keeper = IndexKeeper(shelf.finder, Clock(now))
    store = FileStore(shelf.root, now=Clock(now), keeper=keeper)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        yield Pruner(store, Tidier(store, silent, 0), Clock(now)), store
        tasks.cancel_scope.cancel()


async def test_what_happens_between_the_plan_and_the_deed_is_respected(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    for number in range(5):
        shelf.put(number, "old?", "Old.")
    async with pruning(shelf, shelf.clock()) as (pruner, store):
        plan = await pruner.plan(DAY)
        assert len(plan.old) == 5
        shelf.put(0, "old?", "Old.", tags=["keep"])
        shelf.put(1, "old?", "Old.", updatedAt="2199-12-31T23:59:00Z")
        shelf.put(2, "old?", "Old.", pendingTurn={"question": "Well?"})
        lock = await store.acquire_turn(ConversationId(id_of(3)), 0, ignore)
        outcome = {pruned.facts.conversation_id: pruned async for pruned in pruner.carry_out(plan)}
        await lock.release()
    assert [outcome[id_of(number)].is_kept for number in range(5)] == [True, True, True, True, False]
    assert [trashed.conversation_id for trashed in await store.trash.entries()] == [id_of(4)]


async def test_more_than_a_page_of_old_conversations_is_archived_but_what_is_archived_already_is_left(
    tmp_path: Path,
) -> None:
    shelf = Shelf(tmp_path)
    for number in range(510):
        shelf.put(number, "old?", "Old.", archived=number < 5)
    async with pruning(shelf, shelf.clock()) as (pruner, _):
        plan = await pruner.plan(HOURS)
    assert {facts.conversation_id for _, facts in plan.old} == {id_of(number) for number in range(5, 510)}
    assert {action for action, _ in plan.old} == {"archive"}


async def test_an_old_conversation_that_vanished_or_broke_ends_nothing(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    for number in range(3):
        shelf.put(number, "old?", "Old.")
    async with pruning(shelf, shelf.clock()) as (pruner, _):
        plan = await pruner.plan(HOURS)
        shelf.path(0).unlink()
        shelf.path(1).write_text("{")
        outcomes = [pruned async for pruned in pruner.carry_out(plan)]
    problems = {pruned.facts.conversation_id: pruned.problem for pruned in outcomes if pruned.problem}
    assert list(problems) == [id_of(1)]
    assert sum(pruned.is_kept for pruned in outcomes) == 1
    assert await to_thread.run_sync(lambda: shelf.numbers(state="archived")) == [2]


async def test_a_deletion_that_finds_a_turn_does_not_wait_when_told_so(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "logs", now=Clock())
    conversation_id = await started(store)
    lock = await store.acquire_turn(conversation_id, 0, ignore)
    with pytest.raises(ConversationBusyError):
        await Tidier(store, silent, 60).delete(conversation_id, silent, wait_seconds=0)
    await lock.release()


async def test_nothing_is_removed_for_good_while_the_index_cannot_forget_it(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    store = FileStore(shelf.root, now=shelf.clock, keeper=IndexKeeper(shelf.finder, shelf.clock))
    shelf.put(1, "Xanadu?")
    await to_thread.run_sync(shelf.page)
    trashed = await store.trash.put(ConversationId(id_of(1)))
    lock = await to_thread.run_sync(lambda: shelf.indexes / ".locks" / f"{shelf.database.parent.name}.lock")
    lock.unlink()
    lock.mkdir()
    can = TrashCan(store)
    with pytest.raises(IndexNotErasedError) as caught:
        await can.erase([trashed])
    assert str(shelf.indexes) in caught.value.sentence()
    assert await can.entries() == (trashed,)
    lock.rmdir()
    await can.erase([trashed])
    assert await can.entries() == ()
