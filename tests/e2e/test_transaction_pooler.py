"""The database behind a pooler that gives each transaction another connection."""

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from mcp.types import CallToolResult
from tests.fixtures.databases import PostgreSQL
from tests.fixtures.homes import Home
from tests.fixtures.poolers import transaction_pooler
from tests.fixtures.providers import FakeProvider, held
from tests.fixtures.serving import data_of, serving

from conversation_mcp.stores.postgresql.news import build

pytestmark = pytest.mark.slow


@pytest.fixture
def through(database: PostgreSQL) -> Iterator[str]:
    url = database.database()
    with transaction_pooler(database, url) as through:
        yield through
    database.drop(url)


async def test_turns_of_two_processes_wait_for_each_other_and_are_stopped_without_news(
    tmp_path: Path, through: str
) -> None:
    asked, release, results = anyio.Event(), anyio.Event(), list[CallToolResult]()
    home, one, two = Home(tmp_path, through), FakeProvider(), FakeProvider()
    async with serving(home, one) as first, serving(home, two, tools="research,manage") as second:
        named = {"conversationId": data_of(await first.call_tool("search", {"query": "one?"}))["conversationId"]}
        one.scripts.append(held(release, asked))

        async def follow(query: str) -> None:
            client = first if query == "two?" else second
            results.append(await client.call_tool("search_followup", {"query": query, **named}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, "two?")
            await asked.wait()
            tasks.start_soon(follow, "three?")
            release.set()
        assert sorted(data_of(result)["turn"] for result in results) == [2, 3]
        asked, release = anyio.Event(), anyio.Event()
        one.scripts.append(held(release, asked))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first.call_tool, "search_followup", {"query": "four?", **named})
            await asked.wait()
            await second.call_tool("cancel_turn", named)
    assert home.only()["pendingTurn"]["status"] == "failed"


async def test_nobody_listens_through_it(through: str) -> None:
    hub = build(through)
    try:
        hub.tell("local", "anything")
        with anyio.fail_after(30):
            while not hub.is_off:
                await anyio.lowlevel.checkpoint()
    finally:
        await anyio.to_thread.run_sync(hub.close)
