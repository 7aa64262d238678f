"""Vectors are made aside: slowly, in one thread, and no longer than the server lives."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from tests.fixtures.bundled import bundled
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, settings_for

from conversation_mcp.background import MOST_WAITING, Background
from conversation_mcp.bootstrap import open_app
from conversation_mcp.cli.vector_process import COMMAND, at_half_speed, command_for
from conversation_mcp.server import ConversationServer

BUILD = """
import os, sys
from pathlib import Path
from conversation_mcp.providers.base import as_reader
from conversation_mcp.providers.catalog import ProviderContext, build_providers
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.settings import Settings
settings = Settings(documents=(Path(sys.argv[1]),))
reader = next(filter(None, map(as_reader, build_providers(ProviderContext(settings, LazyClient(), Path(sys.argv[2]))))))
for _ in reader.make_vectors(): pass
threads = Path("/proc/self/status").read_text().partition("Threads:")[2].split()[0]
print(threads, reader.vectors().known, reader.vectors().is_whole)
"""

UNUSED = """
import sys
from functools import partial
from pathlib import Path
import anyio
from mcp import Client
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import settings_for
from conversation_mcp.bootstrap import open_app
from conversation_mcp.server import ConversationServer

async def work(owner): pass

async def use():
    settings = settings_for(Path(sys.argv[1]), store=sys.argv[2], embeddings="bundled", tools=("research", "memories"))
    opened = partial(open_app, settings, providers=[FakeProvider()], work_aside=work)
    async with Client(ConversationServer(settings, opened, {}), raise_exceptions=True) as client:
        asked = await client.call_tool("search", {"query": "Why?"})
        listed = await client.call_tool("list_conversations", {})
        opened = await client.call_tool("init_conversation", {})
        print([each.is_error for each in (asked, listed, opened)], "numpy" in sys.modules)

anyio.run(use)
"""


def test_it_rests_as_long_as_it_works() -> None:
    times = iter([0.0, 2.0, 2.0, 5.0, 5.0])
    rests: list[float] = []
    at_half_speed([1, 2], sleep=rests.append, clock=lambda: next(times))
    assert rests == [2.0, 3.0]


def test_the_process_works_in_the_folder_of_the_server_whatever_store_the_file_names(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    assert command_for(settings)[-2:] == ["--logs-dir", str(settings.logs_dir)]
    assert "--logs-dir" not in command_for(settings.model_copy(update={"store": "redis://example"}))


async def rest(seconds: float) -> None:
    del seconds


async def test_wakes_before_and_during_the_work_count() -> None:
    done: list[int] = []

    async def work(owner: str) -> None:
        assert owner == "ann"
        done.append(len(done))
        if len(done) == 1:
            background.wake(owner)

    background = Background(work, rest)
    background.wake("ann")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(background.run)
        await anyio.wait_all_tasks_blocked()
        assert done == [0, 1]
        background.wake("ann")
        await anyio.wait_all_tasks_blocked()
        assert done == [0, 1, 2]
        tasks.cancel_scope.cancel()


async def test_each_owner_waits_for_the_others_once_however_often_woken_and_the_work_rests_in_between() -> None:
    done: list[str] = []
    rests: list[float] = []
    let_go = anyio.Event()

    async def work(owner: str) -> None:
        done.append(owner)
        await let_go.wait()

    async def rested(seconds: float) -> None:
        rests.append(seconds)

    background = Background(work, rested)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(background.run)
        for number in range(30_000):
            background.wake(f"owner{number % 20_000}")
        await anyio.wait_all_tasks_blocked()
        assert done == ["owner0"]
        background.wake("owner1")
        let_go.set()
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert done == [f"owner{number}" for number in range(MOST_WAITING)]
    assert len(rests) == MOST_WAITING


@pytest.mark.parametrize(("model", "wakes"), [("ollama:all-minilm", True), ("off", False)])
async def test_a_saved_turn_wakes_the_work_where_there_is_a_model(tmp_path: Path, model: str, wakes: bool) -> None:
    worked = anyio.Event()

    async def work(owner: str) -> None:
        assert owner == "local"
        worked.set()

    settings = settings_for(tmp_path, embeddings=model, ollama_base_url="http://127.0.0.1:9/v1")
    opened = partial(open_app, settings, providers=[FakeProvider()], work_aside=work)
    async with Client(ConversationServer(settings, opened, {}), raise_exceptions=True) as client:
        assert not worked.is_set()
        data_of(await client.call_tool("search", {"query": "How tall is the Eiger?"}))
        with anyio.move_on_after(20 if wakes else 0.05):
            await worked.wait()
        assert worked.is_set() == wakes


class Waking:
    """A server whose model of vectors is at an address where nobody is, and the owners for whom work was done."""

    def __init__(self, folder: Path) -> None:
        tools = ("research", "memories", "manage", "log")
        at_nobody = {"ollama_base_url": "http://127.0.0.1:9/v1", "embeddings": "ollama:all-minilm"}
        self.settings = settings_for(folder, tools=tools, **at_nobody)
        self.owners: set[str] = set()
        self.worked = anyio.Event()

    async def work(self, owner: str) -> None:
        self.owners.add(owner)
        self.worked.set()

    async def wakes(self, client: Client, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool, return its result, and wait for the work that it wakes."""
        self.worked = anyio.Event()
        called = await client.call_tool(tool, dict(arguments))
        with anyio.fail_after(20):
            await self.worked.wait()
        return data_of(called)


async def test_memories_and_merges_and_logged_messages_wake_the_work_of_their_owner(tmp_path: Path) -> None:
    waking = Waking(tmp_path)
    opened = partial(open_app, waking.settings, providers=[FakeProvider()], work_aside=waking.work)
    async with Client(ConversationServer(waking.settings, opened, {}), raise_exceptions=True) as client:
        kept = await waking.wakes(client, "store_memory", content="We picked Rust.")
        place = {"memoryId": kept["memoryId"], "conversationId": kept["conversationId"]}
        await waking.wakes(client, "update_memory", **place, content="We picked Zig.")
        await waking.wakes(client, "search_memories", query="languages")
        ids = [(await waking.wakes(client, "search", query=query))["conversationId"] for query in ("one?", "two?")]
        await waking.wakes(client, "merge_conversations", conversationIds=ids)
        await waking.wakes(client, "branch_conversation", conversationId=ids[0], messageNumber=3)
        assert waking.owners == {"local"}
        logged = data_of(await client.call_tool("create_conversation", {"userId": "ann"}))
        there = {"userId": "ann", "conversationId": logged["conversationId"], "role": "user", "content": "Hello"}
        await waking.wakes(client, "store_message", **there)
    assert waking.owners == {"local", "ann"}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not count threads in /proc")
def test_a_single_thread_makes_them_and_a_killed_process_goes_on_where_it_ended(tmp_path: Path) -> None:
    bundled()
    pages = tmp_path / "pages"
    pages.mkdir()
    for number in range(30):
        (pages / f"{number}.md").write_text(f"# Page {number}\n\nWhat is said of topic {number}.", encoding="utf-8")
    command = [sys.executable, "-c", BUILD, str(pages), str(tmp_path / "cache")]
    for seconds in (0.4, 0.6, 0.8):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "30", "True"]


@pytest.mark.slow
def test_the_process_ends_with_its_server(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Page\n\n" + "Many words. " * 20_000, encoding="utf-8")
    given = {"CONVERSATION_MCP_DOCUMENTS": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    with subprocess.Popen(
        [sys.executable, *COMMAND], stdin=subprocess.PIPE, env={**os.environ, **given}, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin
        process.stdin.close()
        assert process.wait(30) == 0


@pytest.mark.slow
def test_a_server_that_never_searched_has_not_loaded_what_vectors_need(tmp_path: Path, meant_url: str) -> None:
    bundled()
    root = Path(__file__).parents[2]
    given = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-c", UNUSED, str(tmp_path), meant_url]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root, env={**os.environ, **given})
    assert done.stdout.splitlines()[0] == "[False, False, False] False"
