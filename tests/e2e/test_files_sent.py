"""Files that go with a question: once, by content, as the conversation goes on."""

import json
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from dirty_equals import IsPartialDict, IsStr
from mcp import Client
from tests.fixtures.homes import Home
from tests.fixtures.models import FakeModels
from tests.fixtures.serving import data_of, error_of, serving, text_of

from conversation_mcp.providers.base import Answer, Event, Finished, ListedModel, Request
from conversation_mcp.records.hashes import hash_of

TOOLS = ("research", "models")
CODE = "def add(a, b):\n    return a + b\n"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    path = tmp_path / "src" / "add.py"
    path.parent.mkdir()
    path.write_text(CODE)
    return path


def opened(home: Home, code: Path, *providers: FakeModels) -> AbstractAsyncContextManager[Client]:
    return serving(home, *providers, tools=TOOLS, roots=(code.parent,))


async def chat(client: Client, prompt: str, **arguments: object) -> dict[str, Any]:
    return data_of(await client.call_tool("chat", {"prompt": prompt, "model": "openai:gpt-6-sol", **arguments}))


async def test_a_file_is_sent_inside_of_its_question_and_listed_in_the_file_and_the_result(
    home: Home, code: Path
) -> None:
    openai = FakeModels(name="openai")
    async with opened(home, code, openai) as client:
        result = await chat(client, "What is wrong?", files=[str(code)])
    (request,) = openai.requests
    sent = request.messages[-1].content
    assert "return a + b" in sent
    assert sent.endswith("What is wrong?")
    question = home.only()["messages"][1]
    assert question["content"] == "What is wrong?"
    told = [{"path": str(code), "sha256": hash_of(CODE.encode()), "bytes": len(CODE), "sent": "whole"}]
    assert question["files"] == told
    assert result["files"] == told


async def test_what_stands_in_the_request_already_is_not_sent_twice_and_requests_begin_alike(
    home: Home, code: Path
) -> None:
    openai = FakeModels(name="openai")
    async with opened(home, code, openai) as client:
        same = {"conversationId": (await chat(client, "one?", files=[str(code)]))["conversationId"]}
        again = await chat(client, "two?", files=[str(code)], **same)
        await chat(client, "three?", **same)
    first, second, third = ([(one.role, one.content) for one in request.messages] for request in openai.requests)
    assert again["files"] == [IsPartialDict(sent="known")]
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert sum(content.count("return a + b") for role, content in third if role == "user") == 1


async def test_the_same_content_under_another_name_is_known_too(home: Home, code: Path) -> None:
    copy = code.with_name("copy.py")
    copy.write_text(CODE)
    openai = FakeModels(name="openai")
    async with opened(home, code, openai) as client:
        result = await chat(client, "one?", files=[str(code), str(copy)])
    assert [file["sent"] for file in result["files"]] == ["whole", "known"]
    assert openai.requests[0].messages[-1].content.count("return a + b") == 1


async def test_a_changed_file_is_sent_as_changed_and_both_versions_are_kept(home: Home, code: Path) -> None:
    openai = FakeModels(name="openai")
    code.write_text(CODE + "# more\n" * 200)
    async with opened(home, code, openai) as client:
        same = {"conversationId": (await chat(client, "one?", files=[str(code)]))["conversationId"]}
        code.write_text("import math\n" + CODE + "# more\n" * 200)
        changed = await chat(client, "two?", files=[str(code)], **same)
        code.unlink()
        await chat(client, "three?", **same)
    assert changed["files"] == [IsPartialDict(sent="diff", changedSince=2)]
    question = openai.requests[1].messages[-1].content
    assert "+import math" in question
    assert question.count("# more") < 20
    assert [one.content for one in openai.requests[2].messages][: len(openai.requests[1].messages)] == [
        one.content for one in openai.requests[1].messages
    ]


async def test_a_file_that_is_gone_is_said_to_be_gone_and_stays_in_the_history(home: Home, code: Path) -> None:
    other = code.with_name("other.py")
    other.write_text("pass\n")
    openai = FakeModels(name="openai")
    async with opened(home, code, openai) as client:
        same = {"conversationId": (await chat(client, "one?", files=[str(code)]))["conversationId"]}
        code.unlink()
        result = await client.call_tool("chat", {**same, "prompt": "two?", "files": [str(code), str(other)]})
    assert data_of(result)["files"] == [
        IsPartialDict(path=str(other), sent="whole"),
        IsPartialDict(path=str(code), sent="skipped", reason=IsStr),
    ]
    assert str(code) in text_of(result)
    assert "return a + b" in openai.requests[1].messages[1].content


async def test_when_nothing_of_what_was_named_can_be_sent_nobody_is_asked(home: Home, code: Path) -> None:
    secret = code.with_name(".env")
    secret.write_text("TOKEN=1\n")
    openai = FakeModels(name="openai")
    async with opened(home, code, openai) as client:
        same = {"conversationId": (await chat(client, "one?"))["conversationId"]}
        before = home.only()
        for named in (str(secret), str(code.with_name("missing.py")), "/etc/hosts"):
            error = error_of(await client.call_tool("chat", {**same, "prompt": "two?", "files": [named]}))
            assert error["code"] == "VALIDATION_ERROR"
            assert named in error["message"]
        assert "Files are read below" in error["message"]
        opening = error_of(await client.call_tool("chat", {"prompt": "two?", "files": [str(secret)]}))
    assert opening["code"] == "VALIDATION_ERROR"
    assert home.only() == before
    assert len(openai.requests) == 1


async def test_files_that_only_this_machine_had_stay_here_until_the_call_names_them(home: Home, code: Path) -> None:
    ollama = FakeModels(name="ollama", listed=[ListedModel("small", 100_000)])
    openai = FakeModels(name="openai")
    async with opened(home, code, ollama, openai) as client:
        first = await chat(client, "one?", files=[str(code)], model="ollama:small")
        same = {"conversationId": first["conversationId"]}
        left = await chat(client, "two?", **same)
        await chat(client, "three?", files=[str(code)], **same)
    asked, named = ([one.content for one in request.messages if one.role == "user"] for request in openai.requests)
    assert not any("return a + b" in content for content in asked)
    assert any("1 file" in notice for notice in left["notices"])
    assert any("return a + b" in content for content in named)


async def test_a_long_conversation_goes_on_with_a_smaller_model(home: Home, code: Path) -> None:
    ollama = FakeModels(name="ollama", listed=[ListedModel("small", 4_096)])
    async with opened(home, code, FakeModels(name="openai"), ollama) as client:
        first = await chat(client, "one? " + "word " * 900, files=[str(code)])
        same = {"conversationId": first["conversationId"]}
        for number in range(4):
            await chat(client, f"{number}? " + "word " * 900, **same)
        last = await chat(client, "And now?", model="ollama:small", **same)
    (request,) = ollama.requests
    assert request.messages[-1].content == "And now?"
    assert request.messages[0].role == "system"
    assert "3? word" in request.messages[-3].content
    assert any("not sent" in notice for notice in last["notices"])
    assert "left out here" in json.dumps([one.content for one in request.messages])


async def test_a_folder_with_more_files_than_a_small_window_can_list_sends_some_and_counts_the_others(
    home: Home, code: Path
) -> None:
    for number in range(300):
        code.with_name(f"{number:03}.py").write_text(f"x = {number}\n")
    ollama = FakeModels(name="ollama", listed=[ListedModel("small", 8_192)])
    async with opened(home, code, ollama) as client:
        result = await chat(client, "one?", files=[str(code.parent)], model="ollama:small")
    sent = [file for file in result["files"] if file["sent"] == "whole"]
    assert len(sent) > 5
    assert any("without room in the request" in notice for notice in result["notices"])
    assert f"x = {len(sent) - 2}\n" in ollama.requests[0].messages[-1].content


async def test_an_answer_may_take_its_share_of_a_known_window_and_no_more(home: Home, code: Path) -> None:  # defect 24
    ollama = FakeModels(name="ollama", listed=[ListedModel("small", 10_000)])
    async with opened(home, code, ollama) as client:
        await chat(client, "one?", model="ollama:small")
    assert ollama.requests[0].output_limit_tokens == 4_000


async def test_files_that_were_named_one_by_one_are_counted_too_when_they_are_too_many_to_be_listed(
    home: Home, code: Path
) -> None:
    paths = [code.with_name(f"part{number:03}.py") for number in range(140)]
    for path in paths:
        path.write_text(f"# {path.name}\n" + "value = 1\n" * 60)
    ollama = FakeModels(name="ollama", listed=[ListedModel("small", 4_096)])
    async with opened(home, code, ollama) as client:
        result = await chat(client, "one?", files=[*map(str, paths)], model="ollama:small")
    assert [file["sent"] for file in result["files"]].count("whole") > 0
    (more,) = [notice for notice in result["notices"] if "more files were left out" in notice]
    assert more.startswith(f"{140 - len(result['files'])} more files were left out: ")
    left_out = next(file for file in result["files"] if file["sent"] == "skipped")
    assert "in all files of the question" in left_out["reason"]


@pytest.mark.parametrize(
    "answer", ['{"findings": []}', '```json\n{"a": 1}\n```', 'See `x`:\n\n```json\n{"a": 1}\n```\n\nThat is all.']
)
async def test_an_answer_in_json_is_kept_and_sent_again_as_it_is(  # defects 8 and 9
    home: Home, code: Path, answer: str
) -> None:
    async def as_asked(_request: Request) -> AsyncGenerator[Event]:
        yield Finished(Answer(content=answer, model="gpt-6-sol"))

    openai = FakeModels(as_asked, name="openai")
    async with opened(home, code, openai) as client:
        first = await chat(client, "one?", files=[str(code)])
        await chat(client, "two?", conversationId=first["conversationId"])
    assert home.only()["messages"][2]["content"] == answer
    assert openai.requests[1].messages[2].content == answer
