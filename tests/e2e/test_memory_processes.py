"""Memories through real processes over stdio: what one session remembers, the next ones know."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from mcp import Client
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.bundled import bundled
from tests.fixtures.processes import server_command
from tests.fixtures.serving import data_of

pytestmark = pytest.mark.slow


class Session:
    """A client with a server process of its own."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return data_of(await self._client.call_tool(tool, arguments))

    async def found(self, query: str, **filters: Any) -> list[tuple[str, str]]:
        """Return text and conversation of the memories that are found."""
        results = (await self.call("search_memories", query=query, **filters))["results"]
        return [(each["content"], each["conversationId"]) for each in results]

    async def known(self, query: str) -> set[tuple[str, str]]:
        """Return kind and text of what is known."""
        return {(each["kind"], each["text"]) for each in (await self.call("get_context", query=query))["results"]}


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


@asynccontextmanager
async def session(folder: Path, agent: LoopbackAgent, **changes: str) -> AsyncGenerator[Session]:
    command = server_command(folder, agent.base_url, CONVERSATION_MCP_TOOLS="research,memories,manage", **changes)
    async with Client(command) as client:
        yield Session(client)


async def test_what_a_conversation_decided_is_found_in_it_and_from_the_next_process(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    async with session(tmp_path, agent) as first:
        asked = await first.call("search", query="Which languages have enums?")
        ids = {"conversationId": asked["conversationId"]}
        decided = "We picked Rust for the parser."
        kept = await first.call("store_memory", content=decided, messageNumber=3, **ids)
        await first.call("search_followup", query="And how fast is it?", **ids)
        assert await first.found("parser language picked", **ids) == [(decided, ids["conversationId"])]
    async with session(tmp_path, agent) as later:
        [memory] = (await later.call("search_memories", query="what did we pick for the parser?"))["results"]
        assert (memory["memoryId"], memory["messageNumber"]) == (kept["memoryId"], 3)
        history = await later.call("get_conversation_history", conversationId=memory["conversationId"])
        assert history["messages"][-2]["content"] == "And how fast is it?"
        assert ("memory", decided) in await later.known("parser")
        await later.call("search_followup", query="Why again?", **ids)
        assert await later.found("parser picked", **ids) == [(decided, ids["conversationId"])]


async def test_topics_of_two_processes_at_once_stay_apart_and_are_found_together(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    async with session(tmp_path, agent) as one, session(tmp_path, agent) as other:
        parser, kitchen = [
            (await each.call("init_conversation", name=name))["conversationId"]
            for each, name in ((one, "Parser"), (other, "Kitchen"))
        ]
        await one.call("store_memory", content="The parser is written by hand.", conversationId=parser)
        await other.call("store_memory", content="The oven parser is broken.", conversationId=kitchen)
        for each in (one, other):
            assert {place for _, place in await each.found("parser")} == {parser, kitchen}
            assert await each.found("parser", conversationId=kitchen) == [("The oven parser is broken.", kitchen)]
        unnamed = [
            (await each.call("store_memory", content=text))["conversationId"]
            for each, text in ((one, "Ann likes tea."), (one, "Bob drinks coffee."), (other, "Cid drinks milk."))
        ]
        assert unnamed[0] == unnamed[1] != unnamed[2]
        assert not {*unnamed} & {parser, kitchen}
        assert len(await other.found("Ann Bob Cid drinks likes")) == 3


async def test_a_completed_conversation_is_found_by_the_next_process_and_reopened_by_a_question(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    async with session(tmp_path, agent) as first:
        ids = {"conversationId": (await first.call("search", query="What is a parser?"))["conversationId"]}
        await first.call("store_memory", content="Zig was chosen.", **ids)
        ended = await first.call("end_conversation", summary="A parser reads; we chose Zig.", **ids)
        assert ended["status"] == "completed"
    async with session(tmp_path, agent) as later:
        assert await later.found("Zig") == [("Zig was chosen.", ids["conversationId"])]
        assert ("summary", "A parser reads; we chose Zig.") in await later.known("parser Zig")
        listed = (await later.call("list_conversations", query="Zig"))["conversations"]
        assert [each["conversationId"] for each in listed] == [ids["conversationId"]]
        await later.call("search_followup", query="And then?", **ids)
        assert (await later.call("list_conversations", state="completed"))["conversations"] == []


async def test_clients_that_never_open_a_conversation_remember_and_find_what_all_of_them_know(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    async with session(tmp_path, agent) as first:
        kept = [await first.call("store_memory", content=text) for text in ("Ann likes tea.", "Ann has a cat.")]
        [own] = {each["conversationId"] for each in kept}
        assert await first.found("tea") == [("Ann likes tea.", own)]
    async with session(tmp_path, agent) as later:
        assert await later.known("Ann") == {("memory", "Ann likes tea."), ("memory", "Ann has a cat.")}
        ids = {"memoryId": kept[0]["memoryId"], "conversationId": own}
        await later.call("update_memory", content="Ann likes coffee.", **ids)
        assert await later.found("tea") == []
        other = (await later.call("store_memory", content="Ann has a dog."))["conversationId"]
        assert other != own
        assert {place for _, place in await later.found("Ann")} == {own, other}
        await later.call("search_followup", query="What does Ann like?", conversationId=own)
        assert (await later.call("list_memories", conversationId=own))["results"][0]["content"].startswith("Ann")


async def test_a_vector_that_a_program_gives_finds_its_memory_from_the_next_process(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    model = bundled()
    [vector] = (await to_thread.run_sync(model.embed_passages, ["The dog barks at night."])).tolist()
    offline = {"CONVERSATION_MCP_EMBEDDINGS": "bundled"}
    async with session(tmp_path, agent, **offline) as first:
        kept = await first.call("store_memory", content="zxqv", embedding=vector)
        assert kept["dimension"] == model.dimensions
        with pytest.raises(AssertionError, match=f"{model.name}: {model.dimensions} finite numbers"):
            await first.call("store_memory", content="zxqw", embedding=vector[1:])
    async with session(tmp_path, agent, **offline) as later:
        assert await later.found("Does a hound bark?") == [("zxqv", kept["conversationId"])]
