"""A hundred thousand memories that say nearly the same: every search, list and write stays bounded."""

import json
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from tests.fixtures.library import id_of
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, serving

from conversation_mcp.stores.index.memory_pages import AMONG
from conversation_mcp.stores.index.schema import SCHEMA

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

CONVERSATIONS, EACH = 10, 10_000
AT = "2026-01-31T00:00:00.000Z"
SAID = "We picked Rust for the parser of the project because of its enums, note {}."
PATIENCE_SECONDS = 30
"""Many times what each call takes; a search that looks up each row took longer."""


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crowded")
    for number in range(CONVERSATIONS):
        first = number * EACH
        memories = [
            {"memoryId": f"mem-{one}", "content": SAID.format(one), "createdAt": AT, "tags": ["odd" if one % 2 else "even"]}
            for one in range(first, first + EACH)
        ]  # fmt: skip
        path = folder / "conversation-logs" / id_of(number) / "conversation.json"
        path.parent.mkdir(parents=True)
        facts = {"conversationId": id_of(number), "createdAt": AT, "updatedAt": AT, "messageCount": 0}
        path.write_text(json.dumps({**facts, "memories": memories, "messages": []}), encoding="utf-8")
    return folder


@pytest.fixture
async def client(crowded: Path) -> AsyncGenerator[Client]:
    async with serving(crowded, FakeProvider(), tools=("memories",)) as client:
        with anyio.fail_after(200):  # until the index knows them all
            while (await called(client, "search_memories", query='"note 99999"')).get("notices"):
                pass
        yield client


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    return data_of(await client.call_tool(tool, arguments))


async def test_every_call_is_bounded_in_time_and_in_what_it_returns(client: Client) -> None:
    call = partial(called, client)
    with anyio.fail_after(PATIENCE_SECONDS):
        tagged = await call("search_memories", query="parser project", tags=["odd"])
        inside = await call("search_memories", query="parser project", conversationId=id_of(3), topK=7)
        exact = await call("search_memories", query='"note 4711"')
        deep = await call("list_memories", offset=99_995)
        known = await call("get_context", query="parser project", maxTokens=500)
        kept = await call("store_memory", content=SAID.format("of an attack"))
        again = await call("store_memory", content=SAID.format(4_711))
    assert [len(each["results"]) for each in (tagged, inside, exact, deep)] == [5, 7, 1, 5]
    assert all(memory["tags"] == ["odd"] for memory in tagged["results"])
    assert {memory["conversationId"] for memory in inside["results"]} == {id_of(3)}
    assert exact["results"][0]["memoryId"] == again["memoryId"] == "mem-4711"
    assert (len(kept["duplicates"]), bool(known["results"])) == (3, True)


async def test_a_full_conversation_takes_no_more_and_says_so(client: Client) -> None:
    refused = await client.call_tool("store_memory", {"content": "One more.", "conversationId": id_of(0)})
    assert refused.is_error
    assert "10,000 memories" in str(refused.content)


def test_a_filter_is_not_looked_up_in_the_words_row_by_row() -> None:
    among = AMONG.replace("ROW", "rowid").replace("CONDITIONS", "1")
    with closing(sqlite3.connect(":memory:")) as database:
        SCHEMA.fill(database)
        asked = (
            f"EXPLAIN QUERY PLAN SELECT rowid FROM memory_words WHERE memory_words MATCH 'a' AND {among} ORDER BY rowid"
        )
        [first, *_] = database.execute(asked)
    assert "VIRTUAL TABLE INDEX" in first[3]
    assert ":=" not in first[3]
