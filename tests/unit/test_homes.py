"""Homes open for a request, close when nothing happens in them, and stay open while something does."""

import gc
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from weakref import WeakSet

import anyio
import pytest
from mcp import MCPError
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import settings_for

from conversation_mcp.bootstrap import open_program
from conversation_mcp.clock import utc_now
from conversation_mcp.errors import FilesystemError
from conversation_mcp.homes import CLOSED_TOGETHER, Homes
from conversation_mcp.server.http.access_log import AccessLog
from conversation_mcp.server.http.homes import ServedHomes
from conversation_mcp.server.http.metrics import Metrics
from conversation_mcp.server.http.options import HttpOptions, security_of
from conversation_mcp.server.http.serving import HomeServers
from conversation_mcp.server.http.witness import ServerWitness
from conversation_mcp.server.veil import Veil


@asynccontextmanager
async def homes_on(folder: Path, *, idle_seconds: float = 0.01, most_open: int = 100) -> AsyncGenerator[ServedHomes]:
    async with open_program(settings_for(folder), providers=[FakeProvider()]) as program:
        witness = ServerWitness(AccessLog(utc_now), Metrics())
        servers = await anyio.to_thread.run_sync(HomeServers(program, security_of(HttpOptions()), witness).load)
        async with anyio.create_task_group() as tasks:
            homes = ServedHomes(servers.server_of, tasks, idle_seconds=idle_seconds, most_open=most_open)
            tasks.start_soon(homes.run)
            yield homes
            await homes.close()
            tasks.cancel_scope.cancel()


async def until(homes: ServedHomes, count: int) -> None:
    with anyio.fail_after(30):
        while len(homes) != count:
            await anyio.lowlevel.checkpoint()


async def test_a_home_closes_when_it_is_idle_and_opens_again(tmp_path: Path) -> None:
    async with homes_on(tmp_path) as homes:
        for _ in range(3):
            async with homes.of("alice"):
                assert len(homes) == 1
            await until(homes, 0)


async def test_a_home_stays_open_while_a_request_is_answered_and_serves_all_of_its_owner(tmp_path: Path) -> None:
    async with homes_on(tmp_path) as homes, homes.of("alice") as first:
        await anyio.sleep(0.1)
        async with homes.of("alice") as second, homes.of("bob") as other:
            assert first == second
            assert first != other
            assert len(homes) == 2
        await until(homes, 1)


async def test_the_home_that_is_idle_longest_makes_room_for_another(tmp_path: Path) -> None:
    async with homes_on(tmp_path, idle_seconds=1_000, most_open=3) as homes, homes.of("busy"):
        for number in range(20):
            async with homes.of(f"owner {number}"):
                pass
        await until(homes, 3)
        async with homes.of("owner 19"):
            assert len(homes) == 3


class Circle:
    """A home that refers to itself, as those of a server do."""

    def __init__(self) -> None:
        self.itself = self


async def test_closed_homes_give_their_memory_back_although_python_looks_for_no_garbage() -> None:
    left: WeakSet[Circle] = WeakSet()

    @asynccontextmanager
    async def opened(_owner: str) -> AsyncGenerator[Circle]:
        circle = Circle()
        left.add(circle)
        yield circle

    gc.disable()
    try:
        async with anyio.create_task_group() as tasks:
            homes = Homes(opened, lambda _: False, tasks, most_open=1)
            for number in range(2 * CLOSED_TOGETHER):
                async with homes.of(f"owner {number}"):
                    pass
            await homes.close()
        assert len(left) < CLOSED_TOGETHER / 2
    finally:
        gc.enable()


async def test_many_requests_at_once_open_one_home(tmp_path: Path) -> None:
    async with homes_on(tmp_path, idle_seconds=0.001) as homes:

        async def use() -> None:
            for _ in range(20):
                async with homes.of("alice") as home:
                    assert home is not None
                    await anyio.lowlevel.checkpoint()

        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(use)


async def test_a_home_that_cannot_be_opened_is_an_error_of_its_request_alone(tmp_path: Path) -> None:
    async with homes_on(tmp_path) as homes:
        async with homes.of("alice") as home:
            assert home is not None
        await until(homes, 0)
        folder = tmp_path / "conversation-logs" / ".owners"
        await anyio.Path(folder).mkdir(parents=True)
        from conversation_mcp.stores.files.owners import home_of

        hers = home_of(tmp_path / "conversation-logs", "alice")
        await anyio.Path(hers).mkdir()
        await anyio.Path(hers / "owner.json").write_text('{"owner": "mallory"}')
        with pytest.raises(FilesystemError):
            async with homes.of("alice"):
                pass
        async with homes.of("bob") as home:
            assert home is not None


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("no conversation X in /srv/logs.", "no conversation X in this server."),
        (
            "/srv/logs/20260131-1769817600000/conversation.json is not JSON.",
            "conversation://20260131-1769817600000 is not JSON.",
        ),
        ("/srv/logs-of-others/x", "/srv/logs-of-others/x"),
        ("see /srv/docs/a.md:3", "see docs/a.md:3"),
        ("larger than 5 bytes (CONVERSATION_MCP_MAX_FILE_BYTES)", "larger than 5 bytes"),
        ("A: b. Set PERPLEXITY_API_KEY, or ask.", "A: b. Ask whoever runs this server."),
        ("A: b. Wait, or raise CONVERSATION_MCP_MAX_COST_USD_PER_DAY.", "A: b. Wait."),
        ("A: X has 5 turns, the limit set by MAX_CONVERSATION_TURNS. Go on.", "A: X has 5 turns. Go on."),
        ("A: b; CONVERSATION_MCP_SHARING=always allows it. Or c.", "A: b. Or c."),
        ("A: nothing to hide. Try again.", "A: nothing to hide. Try again."),
    ],
)
def test_a_veil_hides_paths_and_settings_and_keeps_the_rest(told: str, shown: str) -> None:
    veil = Veil({"/srv/logs": "this server", "/srv/docs": "docs", "/": "everything"})
    assert veil.sentences(told) == shown
    assert veil.error(MCPError(-1, told)).error.message == shown
