"""The whole job over streamable HTTP, in both eras: no path of the server leaves it, and none is opened for a caller."""

import base64
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult
from tests.fixtures.homes import Home
from tests.fixtures.over_http import HttpServer, http_server
from tests.fixtures.providers import FakeProvider, held
from tests.fixtures.serving import Era, data_of, error_of, text_of

ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])
SETS = ("research", "manage", "chat", "models", "context")


@ERAS
async def test_a_start_a_follow_up_and_the_history(home: Home, era: Era) -> None:
    async with http_server(home, FakeProvider()) as server, server.client("alice", era) as client:
        first = data_of(await client.call_tool("search", {"query": "Why?"}))
        second = await client.call_tool("search_followup", {"conversationId": first["conversationId"], "query": "How?"})
        history = await client.call_tool("get_conversation_history", {"conversationId": first["conversationId"]})
    assert [message["content"] for message in data_of(history)["messages"]] == [
        "Why?",
        "answer 1 to Why? [1]",
        "How?",
        "answer 2 to How? [1]",
    ]
    for each in (data_of(second), data_of(history)):
        assert "conversationPath" not in each
    assert "File:" not in text_of(history)
    assert home.ids() == []  # alice is not who runs the server


@ERAS
async def test_what_is_being_done_is_told_while_the_answer_is_not_there_yet(tmp_path: Path, era: Era) -> None:
    release, told = anyio.Event(), list[str]()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        told.append(message or "")
        release.set()

    async with http_server(tmp_path, FakeProvider(held(release))) as server, server.client("alice", era) as client:
        with anyio.fail_after(60):  # the provider answers once something was told: a response that is held back is not
            result = await client.call_tool("search", {"query": "Why?"}, progress_callback=hear)
    assert data_of(result)["status"] == "completed"
    assert "asking fake" in told[0]


async def every_result(server: HttpServer) -> list[str]:
    """Return the text and data of results and errors of every kind that name a conversation."""
    told: list[str] = []

    def keep(result: Any) -> dict[str, Any]:
        told.extend((text_of(result), str(result.structured_content)))
        return result.structured_content or {}

    async with server.client("alice") as client:
        started = keep(await client.call_tool("search", {"query": "Why?"}))["conversationId"]
        other = keep(await client.call_tool("deep_research", {"query": "How?"}))["conversationId"]
        named = {"conversationId": started}
        for tool, arguments in (
            ("get_conversation_history", {}),
            ("update_conversation", {"title": "A title"}),
            ("branch_conversation", {"messageNumber": 3}),
            ("export_conversation", {"format": "json"}),
            ("export_conversation", {"format": "html"}),
            ("cancel_turn", {}),
            ("delete_conversation", {}),
            ("get_conversation_history", {}),
        ):
            keep(await client.call_tool(tool, {**named, **arguments}))
        keep(await client.call_tool("merge_conversations", {"conversationIds": [other, other]}))
        keep(await client.call_tool("list_conversations", {}))
        keep(await client.call_tool("get_conversation_history", {"conversationId": "../../etc/passwd"}))
        told.append(str(await client.read_resource(f"conversation://{other}")))
        told.append(str(await client.get_prompt("continue_conversation", {"conversationId": other})))
    return told


async def test_no_result_error_resource_or_prompt_shows_a_path_of_the_server(home: Home) -> None:
    async with http_server(home, FakeProvider(), tools=("research", "manage")) as server:
        told = await every_result(server)
    place = str(home.folder)
    assert [each for each in told if place in each or "conversationPath" in each or ".owners" in each] == []


async def test_a_damaged_conversation_is_named_by_its_address(tmp_path: Path) -> None:
    async with http_server(tmp_path, FakeProvider()) as server, server.client("local") as client:
        named = {"conversationId": data_of(await client.call_tool("search", {"query": "Why?"}))["conversationId"]}
        (tmp_path / "conversation-logs" / named["conversationId"] / "conversation.json").write_text("{")
        result = await client.call_tool("get_conversation_history", named)
        with pytest.raises(Exception, match="CONVERSATION_CORRUPTED: conversation://") as caught:
            await client.read_resource(f"conversation://{named['conversationId']}")
    assert error_of(result)["code"] == "CONVERSATION_CORRUPTED"
    assert f"conversation://{named['conversationId']}" in text_of(result)
    assert str(tmp_path) not in text_of(result) + str(result.structured_content) + str(caught.value)


async def test_passages_of_shared_documents_are_named_below_their_folder(tmp_path: Path) -> None:
    documents = tmp_path / "handbook"
    documents.mkdir()
    (documents / "kettle.md").write_text("A kettle boils water.")
    async with http_server(tmp_path, documents=(documents,)) as server, server.client("alice") as client:
        result = await client.call_tool("search", {"query": "What boils water in a kettle?"})
    assert "handbook/kettle.md" in text_of(result)
    assert str(tmp_path) not in text_of(result) + str(result.structured_content)


async def test_errors_do_not_name_settings_of_the_server(tmp_path: Path) -> None:
    async with http_server(tmp_path, tools=("research",)) as server, server.client("alice") as client:
        result = await client.call_tool("search", {"query": "Why?"})
    assert text_of(result) == "PROVIDER_NOT_CONFIGURED: no provider can search. Ask whoever runs this server."
    async with (
        http_server(tmp_path, FakeProvider(), max_conversation_turns=1) as server,
        server.client("bob") as client,
    ):
        started = data_of(await client.call_tool("search", {"query": "Why?"}))["conversationId"]
        full = await client.call_tool("search_followup", {"query": "How?", "conversationId": started})
    async with (
        http_server(tmp_path, FakeProvider(), max_cost_usd_per_day=0.2) as server,
        server.client("bob") as client,
    ):
        spent_all = await client.call_tool("search", {"query": "What?"})
    assert error_of(full)["code"] == "TURN_LIMIT_REACHED"
    assert error_of(spent_all)["code"] == "BUDGET_REACHED"
    assert "Wait for the next day (UTC)." in text_of(spent_all)
    assert "_" not in text_of(spent_all).partition(":")[2] + text_of(full).partition("Continue")[0].partition(":")[2]


PICTURE = base64.b64encode(bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de")).decode()


async def test_files_and_images_are_handed_over_and_kept(home: Home) -> None:
    provider = FakeProvider()
    async with http_server(home, provider) as server, server.client("alice") as client:
        files = [{"name": "src/app.py", "text": "def main(): pass\n"}, {"name": "b.txt", "base64": "YmVlcw=="}]
        asked = await asked_with(client, files=files)
        again = await asked_with(client, files=[{**files[0], "text": "other"}])
        same = await asked_with(client, images=[{"name": "dot.png", "base64": PICTURE}])
        listed = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
    assert [file["path"] for file in data_of(asked)["files"]] == ["src/app.py", "b.txt"]
    assert "def main(): pass" in str(provider.requests[1].messages)
    assert "bees" in str(provider.requests[1].messages)
    assert "other" in str(provider.requests[3].messages)
    assert data_of(again)["files"][0]["sent"] == "whole"
    assert "dot.png" in text_of(same)
    assert listed["search_followup"]["properties"]["files"]["items"]["required"] == ["name"]


async def asked_with(client: Client, **attached: object) -> CallToolResult:
    """Ask a question that brings files, in a new conversation."""
    started = data_of(await client.call_tool("search", {"query": "Why?"}))["conversationId"]
    return await client.call_tool("search_followup", {"conversationId": started, "query": "What is it?", **attached})


@pytest.mark.parametrize(
    "files",
    [
        ["/etc/hostname"],
        ["git:staged"],
        ["-"],
        ["file:///etc/hostname"],
        "/etc/hostname",
        [{"name": "/etc/hostname"}],
        [{"name": "a", "path": "/etc/hostname"}],
        [{"name": "a", "text": "x", "base64": "eA=="}],
        [{"name": "a", "base64": "…"}],
        [{"name": "a", "text": 5}],
        [{"name": "a", "text": "x"}, {"name": "a", "text": "y"}],
        [{"name": "a\nb", "text": "x"}],
        [{"name": "", "text": "x"}],
        {"name": "a", "text": "x"},
        [["a"]],
    ],
)
@pytest.mark.parametrize("field", ["files", "images"])
async def test_a_path_in_place_of_a_content_is_refused_and_nothing_is_read(
    tmp_path: Path, field: str, files: object
) -> None:
    provider = FakeProvider()
    async with http_server(tmp_path, provider) as server, server.client("alice") as client:
        result = await asked_with(client, **{field: files})
    assert error_of(result)["code"] == "VALIDATION_ERROR"
    assert text_of(result).startswith(f"VALIDATION_ERROR: {field} ")
    assert len(provider.requests) == 1


async def test_a_name_is_never_followed(tmp_path: Path) -> None:
    provider = FakeProvider()
    async with http_server(tmp_path, provider) as server, server.client("alice") as client:
        files = [{"name": "/etc/hostname", "text": "mine"}, {"name": "../../etc/passwd", "text": "mine, too"}]
        result = await asked_with(client, files=files)
    assert [file["path"] for file in data_of(result)["files"]] == ["/etc/hostname", "../../etc/passwd"]
    assert "root:" not in str(provider.requests)


async def test_a_long_export_is_returned_and_not_written(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"tools": ("research", "manage"), "max_result_chars": 1_000}
    async with http_server(tmp_path, FakeProvider(), **settings) as server, server.client("local") as client:
        named = {
            "conversationId": data_of(await client.call_tool("search", {"query": "Why? " * 500}))["conversationId"]
        }
        result = await client.call_tool("export_conversation", {**named, "format": "markdown"})
    assert data_of(result)["text"].count("Why?") > 400
    assert "path" not in data_of(result)
    folder = tmp_path / "conversation-logs" / named["conversationId"]
    assert [path.name for path in folder.iterdir()] == ["conversation.json"]
