"""A Redis server that cannot be used, and settings of it that can lose what was acknowledged."""

from contextlib import ExitStack
from datetime import timedelta

import pytest
from anyio import create_task_group, to_thread
from tests.fixtures.stores import Clock, appended, started, texts_of
from tests.fixtures.valkey import ENTRY, Valkey

from conversation_mcp.errors import (
    DatabaseError,
    InvalidInputError,
)
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.catalog import open_finder, open_store


@pytest.fixture
def store(redis_url: str, clock: Clock) -> Store:
    return open_store(redis_url, clock)


@pytest.mark.parametrize(
    ("credentials", "port", "problem"),
    [
        (":secret", 1, "the server cannot be reached, or the connection to it broke"),
        (":secret", None, "the server refuses the user or password of the URL"),
        ("", None, "the server refuses the user or password of the URL, or asks for one"),
        ("nobody:secret", None, "the server refuses the user or password of the URL"),
    ],
)
def test_a_server_that_cannot_be_used_is_said_so_without_its_password(
    clock: Clock, valkey_server: Valkey, credentials: str, port: int | None, problem: str
) -> None:
    address = f"127.0.0.1:{port or valkey_server.port}/3"
    for scheme in ("redis", "valkey"):
        with pytest.raises(DatabaseError) as raised:
            open_finder(f"{scheme}://{credentials}@{address}", clock).ids()
        assert raised.value.message.startswith(f"{scheme}://{address}: {problem}")
        assert "secret" not in str(raised.value)


async def test_when_the_memory_of_the_server_is_full_nothing_is_changed(
    redis_url: str, store: Store, valkey_server: Valkey
) -> None:
    conversation_id = await started(store)
    with (
        valkey_server.setting("maxmemory", "1"),
        pytest.raises(DatabaseError, match="the memory of the server is full"),
    ):
        await store.update(conversation_id, appended("more"))
    assert texts_of(await store.load(conversation_id)) == ["Hello?"]


@pytest.mark.parametrize(
    ("settings", "warning"),
    [
        ({}, None),
        ({"appendfsync": "everysec"}, "appendfsync of the server is everysec: when it crashes, the last second of "),
        ({"appendfsync": "no"}, "appendfsync of the server is no: when it crashes, acknowledged writes that "),
        ({"appendonly": "no"}, "the server keeps no append-only file: "),
        ({"maxmemory": "1gb", "maxmemory-policy": "volatile-ttl"}, "maxmemory-policy of the server is volatile-ttl: "),
        ({"maxmemory-policy": "volatile-ttl"}, None),
        ({"maxmemory": "1gb"}, None),
    ],
)
async def test_settings_of_the_server_that_can_lose_writes_are_warned_of(
    store: Store,
    clock: Clock,
    valkey_server: Valkey,
    caplog: pytest.LogCaptureFixture,
    settings: dict[str, str],
    warning: str | None,
) -> None:
    inspector, unused = store.finder.inspector, await store.reserve()
    clock.moment += timedelta(hours=2)
    with ExitStack() as changed:
        for name, value in settings.items():
            changed.enter_context(valkey_server.setting(name, value))
        found = await to_thread.run_sync(lambda: [*inspector.check_place("here"), *inspector.check_leftovers()])
        async with create_task_group() as tasks:
            tasks.start_soon(store.run)
            while not await store.reserve_this(unused):  # it is swept after the warning
                pass
            await store.unreserve(unused)
            tasks.cancel_scope.cancel()
    warnings = [each.text for each in found if each.state == "warn" and "reserved" not in each.text]
    assert [each.startswith(warning or "") for each in warnings] == ([True, True] if warning else [])
    assert [(warning or "") in each for each in caplog.messages] == ([True] if warning else [])


def test_a_server_that_does_not_tell_its_settings_is_warned_of(
    redis_url: str, valkey_server: Valkey, clock: Clock
) -> None:
    valkey_server.command(redis_url, "ACL", "SETUSER", "poor", "on", ">x", "~conversation-mcp:*", "+@all", "-config")
    finder = open_finder(redis_url.replace(f":{ENTRY}@", "poor:x@"), clock)
    (finding,) = finder.inspector.check_leftovers()
    assert finding.text.startswith("the server does not tell its appendfsync")
    valkey_server.command(redis_url, "ACL", "SETUSER", "poor", "-info")
    with pytest.raises(DatabaseError, match="the user of the URL may not do this"):
        list(finder.inspector.check_leftovers())


@pytest.mark.parametrize(
    "url",
    ["redis://[", "redis://host:port/0", "redis://host/name", "redis://host/0/1", "redis://host/0?retry=1"],
)
def test_an_address_that_is_none_is_refused(clock: Clock, url: str) -> None:
    with pytest.raises(InvalidInputError, match="must be a URL such as redis:"):
        open_store(url, clock)


async def test_a_trial_leaves_nothing(redis_url: str, store: Store, valkey_server: Valkey) -> None:
    assert (await store.try_out()).state == "ok"
    assert await to_thread.run_sync(valkey_server.command, redis_url, "KEYS", "*") == []
