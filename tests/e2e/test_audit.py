"""What is done for other users is noted before it is done, over stdio and over HTTP."""

import json
from typing import Any

import pytest
from anyio import to_thread
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from tests.fixtures.homes import Home
from tests.fixtures.logged import LOG, Chatbot
from tests.fixtures.over_http import http_server
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import error_of, serving
from tests.fixtures.stores import Clock

from conversation_mcp.access.token_file import TokenFile
from conversation_mcp.clock import utc_now
from conversation_mcp.records.audit import checked
from conversation_mcp.server.http.entrance import open_entrance
from conversation_mcp.stores.catalog import open_audit


def noted(home: Home) -> list[dict[str, Any]]:
    """Return the lines, of which none may break the chain."""
    lines = [*checked(open_audit(home.store_url, Clock()).lines())]
    assert [line.problem for line in lines if line.problem] == []
    return [line.data for line in lines]


def actions(lines: list[dict[str, Any]]) -> list[tuple[str, str, list[str]]]:
    return [(line["owner"], line["action"], line["targets"]) for line in lines]


async def test_a_chatbot_on_stdio_leaves_a_line_for_each_call_for_another_user(home: Home) -> None:
    async with serving(home, FakeProvider(), tools=LOG) as client:
        ann, own = Chatbot(client), Chatbot(client, "local")
        conversation_id = await ann.created()
        await ann.says(conversation_id, "a word of the quagga")
        await own.created()
        await client.call_tool("search_followup", {"conversationId": conversation_id, "query": "and the quagga?"})
    found = await to_thread.run_sync(noted, home)
    assert actions(found) == [
        ("ann", "create_conversation", []),
        ("ann", "store_messages", [conversation_id]),
        ("ann", "search_followup", [conversation_id]),
    ]
    assert {line["via"] for line in found} == {"stdio"}
    assert "quagga" not in json.dumps(found)


async def test_a_token_over_http_leaves_a_line_for_each_call_for_another_owner(home: Home) -> None:
    async with http_server(home, FakeProvider(), tools=LOG) as server, server.client("bot") as client:
        own, other = Chatbot(client, "bot"), Chatbot(client, "bot-ann")
        await own.created()
        conversation_id = await other.created()
        await other.says(conversation_id, "a word of the quagga")
        error_of(await client.call_tool("recent", {"userId": "eve", "conversationId": conversation_id, "maxTokens": 9}))
    found = await to_thread.run_sync(noted, home)
    assert actions(found) == [
        ("bot-ann", "create_conversation", []),
        ("bot-ann", "store_messages", [conversation_id]),
    ]
    assert {line["via"] for line in found} == {"http"}
    assert "quagga" not in json.dumps(found)


async def test_what_is_read_for_another_without_a_tool_is_noted_too(home: Home) -> None:
    tokens = home.folder / "tokens.json"
    token, _ = await to_thread.run_sync(lambda: TokenFile(tokens).add("bot", utc_now(), may_act_for=("user-*",)))
    for_her = {"authorization": f"Bearer {token}", "conversation-owner": "user-ann"}
    async with (
        http_server(home, open_entrance=open_entrance, tokens_file=tokens, tools=LOG) as server,
        create_mcp_http_client(headers=for_her) as http,
        Client(streamable_http_client(server.url, http_client=http)) as client,
    ):
        conversation_id = await Chatbot(client, "user-ann").created()
        await client.list_tools()
        await client.list_resources()
        await client.read_resource(f"conversation://{conversation_id}")
        await client.get_prompt("continue_conversation", {"conversationId": conversation_id})
    found = await to_thread.run_sync(noted, home)
    assert actions(found) == [
        ("user-ann", "create_conversation", []),
        ("user-ann", "resources/list", []),
        ("user-ann", "resources/read", [conversation_id]),
        ("user-ann", "prompts/get", [conversation_id]),
    ]
    assert {line["actor"].partition("/")[0] for line in found} == {"bot"}


@pytest.mark.parametrize("store_url", ["file"], indirect=True)
async def test_what_cannot_be_noted_is_not_done_for_another(home: Home) -> None:
    (home.folder / "conversation-logs" / ".audit" / "audit.jsonl").mkdir(parents=True)
    async with serving(home, tools=LOG) as client:
        refused = await Chatbot(client).refused("create_conversation")
        assert refused["code"] == "FILESYSTEM_ERROR"
        assert await Chatbot(client, "local").created()
    assert not (home.folder / "conversation-logs" / ".owners").exists()
