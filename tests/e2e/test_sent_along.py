"""Files, images and continued conversations: from the arguments of a tool and from the command line to the engine."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from mcp import Client
from tests.fixtures.folders import ID
from tests.fixtures.listening_engine import ListeningEngine, heard_of, listening_server
from tests.fixtures.serving import data_of, error_of, settings_for

from conversation_mcp.bootstrap import open_app
from conversation_mcp.cli.questions.display import Display
from conversation_mcp.cli.questions.question import Kind, TypedQuestion, caller_for, tool_for
from conversation_mcp.cli.questions.sent_along import SentAlong
from conversation_mcp.tooling.arguments import parse
from conversation_mcp.turns.engine import TurnEngine

SENDERS: dict[str, dict[str, Any]] = {
    "chat": {"prompt": "Why?"},
    "search_followup": {"query": "Why?", "conversationId": ID},
    "deep_research_followup": {"query": "Why?", "conversationId": ID},
}
STARTERS: dict[str, dict[str, Any]] = {
    "chat": {"prompt": "Why?"},
    "search": {"query": "Why?"},
    "deep_research": {"query": "Why?"},
}
PATHS = ["/work/a.py:10-80", "/work/src/**/*.py"]


@pytest.mark.parametrize("tool", SENDERS)
async def test_files_and_images_reach_the_engine_as_they_were_given(tmp_path: Path, tool: str) -> None:
    given = {**SENDERS[tool], "files": PATHS, "images": ["/work/a.png"]}
    async with Client(listening_server(tmp_path, ListeningEngine()), raise_exceptions=True) as client:
        heard = heard_of(data_of(await client.call_tool(tool, given)))
        as_text = {**given, "files": json.dumps(PATHS)}
        assert heard_of(data_of(await client.call_tool(tool, as_text))) == heard
        nothing = heard_of(data_of(await client.call_tool(tool, {**given, "files": [], "images": "null"})))
    assert (heard["files"], heard["images"]) == (PATHS, ["/work/a.png"])
    assert (nothing["files"], nothing["images"]) == ([], [])


@pytest.mark.parametrize("wrong", [[1], [["/work/a.py"]], '["/work/a.py"', {"path": "a"}, 5], ids=repr)
async def test_what_is_no_list_of_paths_is_refused_in_words(tmp_path: Path, wrong: object) -> None:
    engine = ListeningEngine()
    async with Client(listening_server(tmp_path, engine), raise_exceptions=True) as client:
        error = error_of(await client.call_tool("chat", {"prompt": "Why?", "files": wrong}))
    assert error["code"] == "VALIDATION_ERROR"
    assert error["message"].startswith("files must ")
    assert engine.asks == []


@pytest.mark.parametrize("tool", ["search", "deep_research"])
@pytest.mark.parametrize("name", ["files", "images"])
async def test_a_search_that_opens_a_conversation_says_which_question_takes_files(
    tmp_path: Path, tool: str, name: str
) -> None:
    async with Client(listening_server(tmp_path, ListeningEngine()), raise_exceptions=True) as client:
        error = error_of(await client.call_tool(tool, {"query": "Why?", name: PATHS}))
    hint = "Files and images go with the next question of the conversation."
    assert error["message"] == f"{tool} has no argument {name!r}. {hint}"


@pytest.mark.parametrize("tool", STARTERS)
async def test_a_new_conversation_can_continue_another(tmp_path: Path, tool: str) -> None:
    async with Client(listening_server(tmp_path, ListeningEngine()), raise_exceptions=True) as client:
        for name in ("continueFrom", "continue_from"):
            assert heard_of(data_of(await client.call_tool(tool, {**STARTERS[tool], name: ID})))["continueFrom"] == ID


async def test_a_chat_does_not_both_continue_a_conversation_anew_and_go_on_in_one(tmp_path: Path) -> None:
    engine = ListeningEngine()
    async with Client(listening_server(tmp_path, engine), raise_exceptions=True) as client:
        both = {"prompt": "Why?", "continueFrom": ID, "conversationId": ID}
        message = error_of(await client.call_tool("chat", both))["message"]
        assert message.startswith("continueFrom opens a new conversation and conversationId asks in a stored one")
        data_of(await client.call_tool("chat", {**both, "conversationId": ""}))
    assert len(engine.asks) == 1


KINDS: list[Kind] = ["search", "research", "chat"]


@pytest.mark.parametrize("conversation", [None, ID])
@pytest.mark.parametrize("kind", KINDS)
async def test_the_command_line_sends_files_along_with_any_question(
    tmp_path: Path, kind: Kind, conversation: str | None
) -> None:
    sent = SentAlong(files=("/work/a.py", "-"), images=("/work/a.png",), roots=(tmp_path,), pipe=b"a diff")
    question = TypedQuestion("Why?", conversation, kind, {}, sent=sent)
    tool, engine = tool_for(question), ListeningEngine()
    arguments = {"prompt" if kind == "chat" else "query": "Why?"} | ({"conversationId": ID} if conversation else {})
    caller = caller_for(question, Display(streams=False), [])
    async with open_app(settings_for(tmp_path), providers=()) as app:
        listening = app._replace(open_asking=lambda: app.open_asking()._replace(turns=cast("TurnEngine", engine)))
        result = await tool.run(parse(tool, arguments), listening, caller)
    heard = heard_of(result.data())
    assert (heard["files"], heard["images"], heard["roots"]) == (["/work/a.py", "-"], ["/work/a.png"], [str(tmp_path)])
    assert caller.pipe == b"a diff"
