"""What the homes of all owners remember of files: together no more than one would, and nothing once they are closed."""

import gc
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import settings_for
from tests.fixtures.stores import started

from conversation_mcp.app import App
from conversation_mcp.bootstrap import open_home, open_program
from conversation_mcp.clock import utc_now
from conversation_mcp.records.coded import Coded, decoded
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.files import known as known_files
from conversation_mcp.stores.files.folder import ConversationFolder
from conversation_mcp.stores.files.memory import FileMemory
from conversation_mcp.stores.files.owners import home_of
from conversation_mcp.stores.files.store import FileStore
from conversation_mcp.turns.composer import Composer
from conversation_mcp.turns.engine import TurnEngine

OWNERS = [f"user-{number}" for number in range(20)]
SERVICES = (App, FileStore, ConversationFolder, TurnEngine, Composer)


@pytest.fixture
def stores(tmp_path: Path) -> tuple[FileMemory, dict[Path, FileStore]]:
    memory = FileMemory(conversation_bytes=20_000, content_bytes=20_000)
    roots = [home_of(tmp_path, owner) for owner in OWNERS]
    return memory, {
        root: FileStore(root, now=utc_now, owner=owner, is_durable=False, memory=memory)
        for root, owner in zip(roots, OWNERS, strict=True)
    }


async def test_the_homes_of_many_owners_remember_the_conversations_that_were_used_last(
    stores: tuple[FileMemory, dict[Path, FileStore]],
) -> None:
    memory, homes = stores
    ids: dict[Path, ConversationId] = {}
    first = next(iter(homes))
    for root, store in homes.items():
        ids[root] = await started(store, "x" * 4_500)
        await store.load(ids[root])
        await homes[first].load(ids[first])
    known = [root for root in homes if memory.conversations.last((root, ids[root]))]
    assert known == [first, *list(homes)[-3:]]


async def test_what_a_file_pushes_out_is_gone_before_it_is_parsed(
    stores: tuple[FileMemory, dict[Path, FileStore]], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, homes = stores
    (first, store), (_, other), *_ = homes.items()
    old, new = await started(store, "x" * 15_000), await started(other, "x" * 15_000)
    await store.load(old)
    remembered: list[object] = []

    def parsed(*given: Any) -> Coded:
        remembered.append(memory.conversations.last((first, old)))
        return decoded(*given)

    monkeypatch.setattr(known_files, "decoded", parsed)
    await other.load(new)
    assert remembered == [None]


async def test_the_homes_of_many_owners_remember_the_contents_that_were_used_last(
    stores: tuple[FileMemory, dict[Path, FileStore]],
) -> None:
    memory, homes = stores
    content = b"x" * 4_500
    for store in homes.values():
        conversation_id = await started(store)
        await store.attachments.put(conversation_id, {hash_of(content): content})
        await store.attachments.get(conversation_id, [hash_of(content)])
    known: set[Path] = set()
    memory.contents.drop(lambda key: known.add(key[0]) is not None)
    assert known == set(list(homes)[-4:])


@pytest.mark.slow
async def test_a_home_that_was_closed_leaves_nothing_in_memory(tmp_path: Path) -> None:
    gc.collect()
    before = {id(each) for each in gc.get_objects() if isinstance(each, SERVICES)}
    root = home_of(tmp_path / "conversation-logs", "alice")
    async with open_program(settings_for(tmp_path), providers=[FakeProvider()]) as program:
        assert isinstance(memory := program.common, FileMemory)
        async with open_home(program, "alice", is_remote=True) as app:
            conversation_id = await started(app.store)
            await app.store.load(conversation_id)
            assert app.turns
            assert memory.conversations.last((root, conversation_id))
        assert memory.conversations.last((root, conversation_id)) is None
        del app
        gc.collect()
        left = [type(each) for each in gc.get_objects() if isinstance(each, SERVICES) and id(each) not in before]
    assert left == []
