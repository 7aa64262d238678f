"""What Windows does to programs, as far as it can be shown elsewhere: sharing, code pages, reserved and long names."""

import json
import os
from pathlib import Path

import anyio
import pytest
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.handwritten import bytes_below
from tests.fixtures.processes import RawServer
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, error_of, serving
from tests.fixtures.stores import Clock, appended, started, texts_of

from conversation_mcp.disk import files as disk
from conversation_mcp.errors import FilesystemError
from conversation_mcp.stores.files.store import FileStore

RESERVED = ["CON", "NUL.json", "a:b", "x.", "x ", "COM1", "conversation.json", "..", "~", "aux/../con"]


class AccessDeniedError(PermissionError):
    winerror = 5


def refusing(times: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let replacing a file be denied so many times; return the list of denials."""
    real = os.replace
    denials: list[str] = []

    def replace(source: str, target: str) -> None:
        if len(denials) < times:
            denials.append(str(target))
            raise AccessDeniedError(13, "Access is denied", str(source))
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(disk, "RETRY_SECONDS", (0.0, 0.0, 0.0))
    return denials


async def test_a_file_that_somebody_looks_at_is_replaced_when_they_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sharing violations: replacing a file fails for as long as a scanner or a reader holds it open."""
    store = FileStore(tmp_path, now=Clock())
    conversation_id = await started(store)
    denials = refusing(2, monkeypatch)
    assert texts_of(await store.update(conversation_id, appended("more"))) == ["Hello?", "more"]
    assert denials == [store.location(conversation_id)] * 2


async def test_a_denial_that_lasts_is_an_error_in_the_end_and_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sharing violations that are taken for transient for ever, so that nobody is told for hours."""
    store = FileStore(tmp_path, now=Clock())
    conversation_id = await started(store)
    before = bytes_below(tmp_path / conversation_id)
    denials = refusing(1_000, monkeypatch)
    with pytest.raises(FilesystemError, match="permission denied"):
        await store.update(conversation_id, appended("more"))
    assert len(denials) == 4
    assert bytes_below(tmp_path / conversation_id) == before


async def test_a_conversation_is_replaced_while_a_reader_has_it_open(tmp_path: Path) -> None:
    """A reader that holds the file open and keeps every writer out."""
    store = FileStore(tmp_path, now=Clock())
    conversation_id = await started(store)
    async with await anyio.open_file(store.location(conversation_id), "rb") as reader:
        await store.update(conversation_id, appended("more"))
        assert json.loads(await reader.read())["messageCount"] == 1
    assert texts_of(await store.load(conversation_id)) == ["Hello?", "more"]


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp949"])
def test_text_is_written_and_read_as_utf8_whatever_the_locale(tmp_path: Path, encoding: str) -> None:
    """Code pages: an emoji fails in the middle of a write, or the file is read with another encoding than written."""
    question = "Grüße, 日本, 한국어, 😀?"
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": encoding}
    with LoopbackAgent() as agent, RawServer(tmp_path, agent.base_url, cwd=tmp_path, **locale) as server:
        server.initialize()
        server.call("search", 1, query=question)
        data = server.answer_to(1)["result"]["structuredContent"]
        server.call("search_followup", 2, conversationId=data["conversationId"], query="Und 日本?")
        server.answer_to(2)
        server.call("get_conversation_history", 3, conversationId=data["conversationId"])
        page = server.answer_to(3)["result"]["structuredContent"]
    texts = [message["content"] for message in page["messages"]]
    assert texts == [question, f"answer 1 to: {question}[1]", "Und 日本?", "answer 2 to: Und 日本?[1]"]
    stored = Path(data["conversationPath"]).read_bytes().decode("utf-8")
    assert all(text in stored for text in texts)
    assert [item["content"] for item in agent.requests[1]["input"][1:]] == texts[:3]


@pytest.mark.parametrize("name", RESERVED)
async def test_neither_a_question_nor_an_answer_becomes_the_name_of_a_file(tmp_path: Path, name: str) -> None:
    """Reserved names: a title that is called `CON`, or holds a colon, names a device or a hidden stream."""
    async with serving(tmp_path, FakeProvider()) as client:
        data = data_of(await client.call_tool("search", {"query": name}))
    names = {part for path in (tmp_path / "conversation-logs").rglob("*") for part in path.relative_to(tmp_path).parts}
    made = {"conversation-logs", ".gitignore", ".locks", ".calls", data["conversationId"], "conversation.json"}
    assert {known for known in names if not known.endswith(".lock")} == made


@pytest.mark.parametrize("name", RESERVED)
@pytest.mark.parametrize("tool", ["search_followup", "deep_research_followup", "get_conversation_history"])
async def test_a_reserved_name_is_no_id(tmp_path: Path, tool: str, name: str) -> None:
    """Reserved names as ids: `NUL.json`, a trailing dot or blank, a stream."""
    arguments = {"conversationId": name} | ({"query": "x"} if "followup" in tool else {})
    async with serving(tmp_path, FakeProvider()) as client:
        error = error_of(await client.call_tool(tool, arguments))
    assert error["code"] == "VALIDATION_ERROR"
    assert list(tmp_path.iterdir()) == []


async def test_a_folder_with_a_very_long_path_works(tmp_path: Path) -> None:
    """Paths of more than 260 characters, which some programs cannot open."""
    deep = tmp_path / ("long" * 40) / ("path" * 40)
    async with serving(deep, FakeProvider()) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        conversation = {"conversationId": first["conversationId"]}
        data_of(await client.call_tool("search_followup", {**conversation, "query": "two?"}))
        page = data_of(await client.call_tool("get_conversation_history", conversation))
    assert len(page["conversationPath"]) > 260
    assert page["totalCount"] == 4
