"""A Redis server whose disk is full, or that has become the replica of another one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio import to_thread
from tests.fixtures.stores import Clock, appended, fill, public_folder, small_disk, started, texts_of
from tests.fixtures.valkey import Valkey, require_valkey, valkey

from conversation_mcp.errors import DatabaseError
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.catalog import open_store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture
def disk() -> Iterator[Path]:
    require_valkey()
    with public_folder() as folder, small_disk(folder / "disk", "4m") as disk:
        yield disk


@pytest.fixture
def on_disk(disk: Path) -> Iterator[Valkey]:
    """A server that goes on without its disk; one that waits for it at each write ends instead."""
    with valkey(disk, appendfsync="everysec") as server:
        yield server


@pytest.fixture
def server() -> Iterator[Valkey]:
    require_valkey()
    with valkey() as server:
        yield server


async def added_until_refused(store: Store, conversation_id: ConversationId) -> None:
    """Add answers; the write that finds the disk full is still taken."""
    while True:
        await store.update(conversation_id, appended("an answer"))


async def test_when_the_disk_of_the_server_is_full_it_is_said_and_then_it_goes_on(
    disk: Path, on_disk: Valkey, clock: Clock
) -> None:
    store = open_store(on_disk.database(), clock)
    conversation_id = await started(store)
    await to_thread.run_sync(fill, disk, 0)
    with pytest.raises(DatabaseError, match="takes no writes because it cannot save to its disk"):
        await added_until_refused(store, conversation_id)
    known = texts_of(await store.load(conversation_id))
    await to_thread.run_sync((disk / "ballast").unlink)
    while True:
        try:
            await store.update(conversation_id, appended("kept"))
            break
        except DatabaseError:  # the server looks at its disk again after a second
            continue
    assert texts_of(await store.load(conversation_id)) == [*known, "kept"]


async def test_a_server_that_became_a_replica_is_read_and_refuses_to_write(server: Valkey, clock: Clock) -> None:
    url = server.database()
    store = open_store(url, clock)
    conversation_id = await started(store)
    await to_thread.run_sync(server.command, url, "REPLICAOF", "127.0.0.1", 1)
    assert texts_of(await store.load(conversation_id)) == ["Hello?"]
    with pytest.raises(DatabaseError, match="the server is a replica, which takes no writes"):
        await store.update(conversation_id, appended("more"))
    await to_thread.run_sync(server.command, url, "REPLICAOF", "NO", "ONE")
    await store.update(conversation_id, appended("more"))
    assert texts_of(await store.load(conversation_id)) == ["Hello?", "more"]
