"""Nobody reaches what is another's: every tool, resource, prompt, completion, task and stream, tried by B on A's things."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import anyio
import pytest
from anyio import to_thread
from mcp.types import Prompt, PromptReference, ResourceTemplate, ResourceTemplateReference
from tests.fixtures.homes import Home
from tests.fixtures.over_http import HttpServer, http_server
from tests.fixtures.owner_with_calls import WITH_TASKS
from tests.fixtures.providers import FakeProvider, asked_in_any_mode
from tests.fixtures.serving import data_of, text_of
from tests.fixtures.stores import UNKNOWN
from tests.fixtures.wire_calls import NEW_ERA, OLD_ERA, wire_to

from conversation_mcp.clock import utc_now
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.catalog import open_finder
from conversation_mcp.tools.catalog import TOOL_SETS

ALL_SETS = tuple(TOOL_SETS)
OWN = "20260131-1769817600998"
QUESTION = "the launch code is heron"
OTHERS: Mapping[str, dict[str, Any]] = {
    "branch_conversation": {"messageNumber": 2},
    "merge_conversations": {},
    "update_conversation": {"title": "Mine now"},
    "update_memory": {"content": "Mine now"},
    "export_conversation": {"format": "json"},
    "store_message": {"role": "user"},
    "store_messages": {"messages": [{"role": "user", "content": "what?"}]},
    "consult": {"workflow": "codereview"},
    "consensus": {"models": [{"model": "fake/a", "stance": "for"}, {"model": "fake/b", "stance": "against"}]},
}
WITHOUT_CONVERSATION = {
    "create_conversation",
    "init_conversation",
    "get_context",
    "list_conversations",
    "list_models",
    "apilookup",
    "challenge",
}
"""The only tools that cannot be called on a conversation."""


def naming(tool: Any, conversation_id: str) -> dict[str, Any] | None:
    """Return arguments with which the tool is called on a conversation; None if it cannot name one."""
    properties = tool.input_schema["properties"]
    required = tool.input_schema.get("required", [])
    usual: dict[str, Any] = {"integer": 1, "number": 1, "boolean": False, "string": "what?"}
    filled = {name: usual.get(properties[name].get("type")) for name in required} | OTHERS.get(tool.name, {})
    if "conversationIds" in properties:
        return {**filled, "conversationIds": [conversation_id, OWN]}
    named = next((name for name in ("conversationId", "continueFrom") if name in properties), None)
    return None if named is None else {**filled, named: conversation_id}


async def outcome(call: Callable[[], Awaitable[Any]], conversation_id: str) -> str:
    """Return all that a call tells, with the id that was asked for, and times and references, replaced."""
    try:
        found = await call()
        told = f"{text_of(found)}\n{found.structured_content}" if hasattr(found, "structured_content") else str(found)
    except Exception as error:  # noqa: BLE001 -- whatever it is, it must be the same for both
        told = f"{type(error).__name__}: {error}"
    return told.replace(conversation_id, "ID")


async def alices(server: HttpServer) -> str:
    async with server.client("alice") as client:
        return data_of(await client.call_tool("search", {"query": QUESTION}))["conversationId"]


async def test_each_tool_tells_b_the_same_of_as_conversation_as_of_one_that_nobody_has(home: Home) -> None:
    provider = asked_in_any_mode()
    async with http_server(home, provider, tools=ALL_SETS) as server:
        hers = await alices(server)
        before = await to_thread.run_sync(stored, home, "alice", hers)
        left_out: set[str] = set()
        async with server.client("bob") as client:
            for tool in (await client.list_tools()).tools:
                if (given := naming(tool, hers)) is None:
                    left_out.add(tool.name)
                    continue
                told = [
                    await outcome(partial(client.call_tool, tool.name, naming(tool, wanted)), wanted)
                    for wanted in (hers, UNKNOWN)
                ]
                assert told[0] == told[1], given
                assert "CONVERSATION_NOT_FOUND" in told[0], given
                assert "heron" not in told[0]
        assert left_out == WITHOUT_CONVERSATION
        assert len(provider.requests) == 1
        assert await to_thread.run_sync(stored, home, "alice", hers) == before


async def test_what_b_is_told_of_as_conversation_differs_in_no_byte_but_the_id(home: Home) -> None:
    provider = asked_in_any_mode()
    async with http_server(home, provider, tools=ALL_SETS) as server:
        hers = await alices(server)
        async with server.client("bob") as client:
            tools = [tool for tool in (await client.list_tools()).tools if tool.name not in WITHOUT_CONVERSATION]
        async with wire_to(server) as wire:
            for tool, version, meta in product(tools, (OLD_ERA, NEW_ERA), ({}, WITH_TASKS)):
                told: list[object] = []
                for wanted in (hers, UNKNOWN):
                    params = {"name": tool.name, "arguments": naming(tool, wanted), "_meta": meta}
                    heard = wire.send("bob", "tools/call", params, version)
                    assert (await heard.answer())["result"]["isError"]
                    told.append((heard.status, heard.headers, heard.text.replace(wanted, UNKNOWN)))
                assert told[0] == told[1]
        assert len(provider.requests) == 1


def stored(home: Home, owner: str, conversation_id: str) -> bytes:
    """Return what is stored for an owner, past the server."""
    return open_finder(home.store_url, utc_now, owner).read(ConversationId(conversation_id))


async def test_no_tool_tells_b_anything_that_a_has_said_or_remembers(home: Home) -> None:
    provider = asked_in_any_mode()
    async with http_server(home, provider, tools=ALL_SETS) as server:
        hers = await alices(server)
        async with server.client("alice") as client:
            kept = await client.call_tool("store_memory", {"conversationId": hers, "content": f"Remember: {QUESTION}"})
            memory = data_of(kept)["memoryId"]
        before, count = await to_thread.run_sync(stored, home, "alice", hers), len(provider.requests)
        async with server.client("bob") as client:
            tools = (await client.list_tools()).tools
            for tool in tools:
                own = data_of(await client.call_tool("search", {"query": f"And {tool.name}?"}))["conversationId"]
                on_own = naming(tool, own) or {}
                if "memoryId" in on_own:
                    on_own["memoryId"] = memory
                for given in (on_own, anything(tool)):
                    told = await outcome(partial(client.call_tool, tool.name, given), own)
                    assert "heron" not in told, given
                    assert hers not in told, given
        assert {tool.name for tool in tools} == {name for names in TOOL_SETS.values() for name in names}
        assert "heron" not in str(provider.requests[count:])
        assert await to_thread.run_sync(stored, home, "alice", hers) == before


def anything(tool: Any) -> dict[str, Any]:
    """Return arguments that name no conversation, and words of hers."""
    given = naming(tool, OWN) or {}
    words = {name: "launch code" for name in ("query", "prompt", "content") if name in tool.input_schema["properties"]}
    return {name: value for name, value in {**given, **words}.items() if "onversation" not in name}


async def test_resources_prompts_and_completion_do_not_cross(home: Home) -> None:
    async with http_server(home, FakeProvider(), tools=ALL_SETS) as server:
        hers = await alices(server)
        async with server.client("bob") as client:
            prompts = (await client.list_prompts()).prompts
            templates = (await client.list_resource_templates()).resource_templates
            for template in templates:
                for wanted in (hers, UNKNOWN):
                    uri = template.uri_template.replace("{conversationId}", wanted)
                    assert "CONVERSATION_NOT_FOUND" in await outcome(partial(client.read_resource, uri), wanted), uri
            missing: set[str] = set()
            for prompt in prompts:
                told = [
                    await outcome(partial(client.get_prompt, prompt.name, arguments_of(prompt, wanted)), wanted)
                    for wanted in (hers, UNKNOWN)
                ]
                assert told[0] == told[1], prompt.name
                assert "heron" not in told[0], prompt.name
                missing |= {prompt.name} if "CONVERSATION_NOT_FOUND" in told[0] else set()
            assert missing >= {"continue_conversation", "summarize_conversation"}
            for reference, argument in completed(prompts, templates):
                for begun in ("", hers[:8], "heron"):
                    found = await client.complete(reference, {"name": argument, "value": begun})
                    assert not [value for value in found.completion.values if hers in value or "heron" in value]
            assert hers not in str(await client.list_resources())
            listed = await client.call_tool("list_conversations", {"query": "heron"})
            assert data_of(listed)["conversations"] == []
        async with server.client("alice") as client:
            template = ResourceTemplateReference(uri=templates[0].uri_template)
            found = await client.complete(template, {"name": "conversationId", "value": hers[:8]})
            assert found.completion.values == [hers]


def arguments_of(prompt: Prompt, conversation_id: str) -> dict[str, str]:
    """Return arguments with which a prompt is asked for, on a conversation where it can name one."""
    wanted = {argument.name for argument in prompt.arguments or () if argument.required}
    named = {"conversationId"} & {argument.name for argument in prompt.arguments or ()}
    return {**dict.fromkeys(wanted, "1"), **dict.fromkeys(named, conversation_id)}


def completed(
    prompts: Iterable[Prompt], templates: Iterable[ResourceTemplate]
) -> Iterator[tuple[PromptReference | ResourceTemplateReference, str]]:
    """Yield everything that can be completed."""
    for prompt in prompts:
        for argument in prompt.arguments or ():
            yield PromptReference(name=prompt.name), argument.name
    for template in templates:
        for name in re.findall(r"\{(\w+)\}", template.uri_template):
            yield ResourceTemplateReference(uri=template.uri_template), name


NAMES = ["Alice", "ALICE", "alice/", "/alice", "alice%00", "../alice", "alice/../alice", "alice.", "x" * 400]


@pytest.mark.parametrize("name", NAMES)
async def test_a_name_that_only_looks_like_hers_has_nothing_of_hers(home: Home, name: str) -> None:
    async with http_server(home, FakeProvider()) as server:
        hers = await alices(server)
        async with server.client(name) as client:
            assert data_of(await client.call_tool("list_conversations", {}))["conversations"] == []
            told = await client.call_tool("get_conversation_history", {"conversationId": hers})
            assert "CONVERSATION_NOT_FOUND" in text_of(told)


async def test_the_same_question_of_two_owners_is_asked_for_each(home: Home) -> None:
    provider = FakeProvider()
    async with http_server(home, provider) as server:
        for owner in ("alice", "bob"):
            async with server.client(owner) as client:
                data_of(await client.call_tool("search", {"query": "Why?"}))
    assert len(provider.requests) == 2


async def listening(server: HttpServer, owner: str, conversation_id: str, heard: list[str]) -> None:
    """Listen for every change, and keep what is heard."""
    async with (
        server.client(owner) as client,
        client.listen(
            resources_list_changed=True, resource_subscriptions=[f"conversation://{conversation_id}"]
        ) as events,
    ):
        heard.append("listening")
        async for event in events:
            heard += [str(event)]


async def test_a_listener_hears_nothing_of_another_owner(home: Home) -> None:
    async with http_server(home, FakeProvider()) as server:
        hers = await alices(server)
        his: list[str] = []
        own: list[str] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listening, server, "bob", hers, his)
            tasks.start_soon(listening, server, "alice", hers, own)
            with anyio.fail_after(60):
                while not (his and own):
                    await anyio.lowlevel.checkpoint()
                async with server.client("alice") as client:
                    await client.call_tool("search_followup", {"conversationId": hers, "query": "How?"})
                while len(own) < 2:
                    await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
    assert his == ["listening"]


async def test_a_task_of_hers_does_not_exist_for_him(home: Home) -> None:
    declared: dict[str, Any] = {
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}
    }
    meta: dict[str, Any] = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", **declared}
    async with http_server(home, FakeProvider()) as server:

        async def asked(owner: str, method: str, named: str, **params: object) -> dict[str, Any]:
            headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": named}
            body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta, **params}}
            return (await server.post(owner, body, **headers)).json()

        begun = await asked("alice", "tools/call", "search", name="search", arguments={"query": QUESTION})
        task: str = begun["result"]["taskId"]
        forged = re.sub(r"^[^.]+", UNKNOWN, task)
        for method in ("tasks/get", "tasks/cancel", "tasks/update"):
            more: dict[str, object] = {"inputResponses": {}} if method == "tasks/update" else {}
            told = [
                str(await asked("bob", method, wanted, taskId=wanted, **more)).replace(wanted, "TASK")
                for wanted in (task, forged)
            ]
            assert told[0] == told[1]
            assert "there is no task" in told[0]
        assert "error" not in await asked("alice", "tasks/get", task, taskId=task)


async def test_no_argument_chooses_the_owner(home: Home) -> None:
    async with http_server(home, FakeProvider(), tools=ALL_SETS) as server:
        hers = await alices(server)
        async with server.client("bob") as client:
            for name in ("owner", "userId", "user_id", "user", "subject", "_meta"):
                told = await client.call_tool("get_conversation_history", {"conversationId": hers, name: "alice"})
                assert told.is_error
                assert "heron" not in text_of(told)
