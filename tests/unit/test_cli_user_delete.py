"""The command `user delete`, on every store."""

import json

import anyio
import pytest
from anyio import to_thread
from dirty_equals import IsPartialDict
from tests.fixtures.attached import stored_with_files
from tests.fixtures.cli import Here, answered
from tests.fixtures.folders import ID
from tests.fixtures.homes import Home
from tests.fixtures.stores import ignore

from conversation_mcp.clock import utc_now
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.catalog import open_store, owners_in

OTHER = "20260131-1769817600001"


def store_of(home: Home, owner: str = "local") -> Store:
    return open_store(home.store_url, utc_now, owner, is_durable=False)


def test_everything_of_a_user_goes_and_all_others_stay(here: Here, home: Home) -> None:
    home.put(answered(ID, title="of local"))
    anyio.run(stored_with_files, store_of(home, "alice"))
    assert here("remember", "--owner", "alice", "the quagga").code == 0
    anyio.run(stored_with_files, store_of(home, "alice"))
    assert here("delete", "last", "--owner", "alice").code == 0
    ended = here("user", "delete", "alice", "--yes", "--json")
    assert (ended.code, ended.err) == (0, "")
    data = json.loads(ended.out)
    assert data == IsPartialDict(user="alice", isComplete=True, left=[])
    assert len(data["deleted"]) == 3
    assert anyio.run(store_of(home, "alice").traces) == []
    assert [*owners_in(home.store_url)] == ["local"]
    assert home.ids() == [ID]
    assert here("user", "delete", "alice", "--yes").code == 1


def test_the_user_who_runs_the_program_can_be_deleted_beside_others(here: Here, home: Home) -> None:
    home.put(answered(ID))
    home.put(answered(OTHER))
    assert here("delete", OTHER).code == 0
    assert here("remember", "--owner", "alice", "the quagga").code == 0
    assert here("user", "delete", "local", "--yes").out.startswith("local  deleted for good: 2 conversations;")
    assert home.ids() == []
    assert "the quagga" in here("memories", "--owner", "alice").out
    home.put(answered(ID))
    assert home.ids() == [ID]


def test_without_a_terminal_and_an_agreement_nothing_is_deleted(here: Here, home: Home) -> None:
    home.put(answered(ID))
    refused = here("user", "delete", "local")
    assert refused.code == 2
    assert refused.err.startswith("Of local there are 1 conversation and 0 in the trash, ")
    assert home.ids() == [ID]


def test_a_conversation_that_stays_busy_is_named_and_the_rest_is_deleted(
    here: Here, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONVERSATION_MCP_LOCK_WAIT_SECONDS", "0")
    monkeypatch.setattr("conversation_mcp.turns.watch.STOP_SECONDS", 0.1)
    home.put(answered(ID))
    home.put(answered(OTHER))

    async def delete_meanwhile() -> None:
        lock = await store_of(home).acquire_turn(ConversationId(ID), 0, ignore)
        ended = await to_thread.run_sync(here, "user", "delete", "local", "--yes", "--json")
        await lock.release()
        assert ended.code == 1
        assert json.loads(ended.out) == IsPartialDict(deleted=[OTHER], isComplete=False)
        assert f"another follow-up on {ID} is still running" in ended.err

    anyio.run(delete_meanwhile)
    assert home.ids() == [ID]
    assert here("user", "delete", "local", "--yes").code == 0
