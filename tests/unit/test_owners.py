"""Owners: each has a place of its own in every store, and no name leads to the place of another."""

import json
import threading
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from tests.fixtures.homes import Home
from tests.fixtures.stores import UNKNOWN, conversation, started

from conversation_mcp.bootstrap import open_home, open_program
from conversation_mcp.clock import utc_now
from conversation_mcp.errors import ConversationNotFoundError, FilesystemError
from conversation_mcp.owners import LOCAL, is_owner
from conversation_mcp.settings import Settings
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.catalog import open_finder, open_store, owners_in
from conversation_mcp.stores.files.owners import home_of

ODD = [
    "alice",
    "Alice",
    "ALICE",
    "alic\u0435",
    "a\u0301lice",
    "\u00e1lice",
    "alice/../local",
    "../../etc/passwd",
    "C:\\Windows",
    "CON",
    ".locks",
    "LOCAL",
    "20260131-1769817600000",
    "%2e%2e%2f",
    "|alice|",
    "x" * 512,
    "x" * 511,
    "用户",
]


async def opened(home: Home, owner: str) -> Store:
    return await to_thread.run_sync(partial(open_store, home.store_url, utc_now, owner, is_durable=False))


async def test_each_owner_finds_only_what_is_its_own(home: Home) -> None:
    kept = {owner: await started(await opened(home, owner), f"Who is {owner}?") for owner in (LOCAL, *ODD)}
    for owner, conversation_id in kept.items():
        store = await opened(home, owner)
        assert await to_thread.run_sync(store.finder.ids) == [conversation_id]
        assert (await store.load(conversation_id)).messages[0].content == f"Who is {owner}?"
    assert sorted(await to_thread.run_sync(lambda: [*owners_in(home.store_url)])) == sorted((LOCAL, *ODD))


async def test_another_owners_conversation_is_missing_like_one_that_nobody_has(home: Home) -> None:
    alice, bob = await opened(home, "alice"), await opened(home, "bob")
    hers = await alice.reserve(datetime(2026, 2, 1, tzinfo=UTC))
    await alice.create(conversation(hers, "Hers."))
    await started(bob, "His.")
    told: list[str] = []
    for wanted in (hers, UNKNOWN):
        with pytest.raises(ConversationNotFoundError) as caught:
            await bob.load(wanted)
        told.append(caught.value.message.replace(wanted, "ID"))
    assert told[0] == told[1]
    assert not await bob.exists(hers)


@pytest.mark.parametrize("name", ODD)
def test_the_folder_of_an_owner_is_plain_and_directly_among_those_of_the_others(name: str) -> None:
    folder = home_of(Path("/logs"), name)
    assert folder.parent == Path("/logs/.owners")
    assert folder.name.isascii()
    assert folder.name == folder.name.lower()
    assert len(folder.name) < 64
    assert not folder.name.startswith(".")


def test_who_runs_the_program_keeps_the_root() -> None:
    assert home_of(Path("/logs"), LOCAL) == Path("/logs")


@pytest.mark.parametrize(
    "name", ["", " alice", "alice\n", "a\0b", "a\u202eb", "a\u200bb", "x" * 513, "é" * 257, "\ud800"]
)
def test_a_name_that_cannot_be_shown_or_is_too_long_is_no_owner(name: str) -> None:
    assert not is_owner(name)


async def test_a_folder_that_names_another_owner_is_not_opened(tmp_path: Path) -> None:
    root = tmp_path / "conversation-logs"
    store = await opened(Home(tmp_path, root.as_uri()), "alice")
    await started(store, "Hers.")
    named = home_of(root, "alice") / "owner.json"
    assert json.loads(named.read_bytes()) == {"owner": "alice"}
    named.write_text('{"owner": "somebody with the same hash"}')
    for make in (open_store, open_finder):
        with pytest.raises(FilesystemError, match="another owner"):
            await to_thread.run_sync(make, root.as_uri(), utc_now, "alice")
    with pytest.raises(FilesystemError, match="another owner"):
        await store.reserve()
    assert await to_thread.run_sync(lambda: [*owners_in(root.as_uri())]) == [LOCAL]


async def test_homes_share_providers_and_nothing_that_is_an_owners(home: Home) -> None:
    settings = Settings.model_validate({"store": home.store_url, "logs_dir": home.folder, "prompts_dir": home.folder})
    async with (
        open_program(settings, providers=()) as program,
        open_home(program, "alice") as hers,
        open_home(program, "bob") as his,
    ):
        assert hers.providers is his.providers
        assert (hers.owner, his.owner) == ("alice", "bob")
        conversation_id = await started(hers.store, "Hers.")
        assert await hers.store.exists(conversation_id)
        assert not await his.store.exists(conversation_id)
        assert not any((hers.is_busy(), his.is_busy()))


@pytest.mark.slow
async def test_a_thousand_homes_take_no_thread_and_no_open_file_each(tmp_path: Path) -> None:
    settings = Settings.model_validate({"logs_dir": tmp_path / "conversation-logs", "prompts_dir": tmp_path})
    async with open_program(settings, providers=()) as program, AsyncExitStack() as stack:
        files = Path("/proc/self/fd")
        before = len([*files.iterdir()]) if files.exists() else 0
        for number in range(1_000):
            await stack.enter_async_context(open_home(program, f"owner {number}"))
        await anyio.lowlevel.checkpoint()
        assert threading.active_count() < 50
        if files.exists():
            assert len([*files.iterdir()]) < before + 50
