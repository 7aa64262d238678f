"""Deleting from a terminal: with other processes about, with a person who is asked, and without a word left behind."""

import json
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path

import anyio
import pytest
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.cli import PROGRAM, Terminal, clean_environment, piped, put_conversation
from tests.fixtures.folders import ID, only_conversation, until_noted
from tests.fixtures.processes import RawServer

from conversation_mcp.clock import utc_now
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import Conversation, ConversationId, Message
from conversation_mcp.stores.files.store import FileStore

MARKERS = (b"xanaduxanadu", b"zanzibarissimo", b"kublaikhanly", b"timbuktutag")
OTHER = "20260131-1769817600001"


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


def marked(folder: Path, markers: Collection[bytes] = MARKERS) -> list[tuple[str, str]]:
    """Return which files of conversations and of the index hold which marker, in their content or in their names."""
    cache = folder / "home" / "cache"
    paths = [*(folder / "conversation-logs").rglob("*"), *cache.rglob("*")]
    found = [(path, path.read_bytes().lower() if path.is_file() else b"") for path in paths]
    assert any(path.name == "index.db" for path in paths)
    return [(str(path), word.decode()) for path, body in found for word in markers if word in body]


def name_a_file(folder: Path, conversation_id: str, data: bytes) -> None:
    """Have the first question name a file, with a draft beside its content as a killed write leaves it."""
    files = ({"path": "/zanzibarissimo.txt", "sha256": hash_of(data), "bytes": len(data), "sent": "whole"},)
    store = FileStore(folder / "conversation-logs", now=utc_now)

    def change(stored: Conversation, _now: str) -> Conversation:
        first = Message.model_validate({**stored.messages[0].data(), "files": files}, by_alias=True, by_name=False)
        return stored.changed(messages=(first, *stored.messages[1:]))

    given = ConversationId(conversation_id)
    anyio.run(store.attachments.put, given, {hash_of(data): data})
    anyio.run(store.update, given, change)
    content = Path(store.location(given)).parent / "files" / hash_of(data)
    content.with_name(f".{content.name}.0123456789abcdef.tmp").write_bytes(data)


def listed(server: RawServer, **arguments: str) -> str:
    server.call("list_conversations", 1, **arguments)
    return json.dumps(server.answer_to(1))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["delete --for-good", "trash empty"])
def test_no_byte_of_what_was_deleted_for_good_is_left(tmp_path: Path, agent: LoopbackAgent, way: str) -> None:
    """Every byte of the folder and of the index is looked at, after all that can be done with a conversation."""
    folder = {"base_url": agent.base_url}
    assert piped(tmp_path, "ask", "xanaduxanadu? [[fault:402]]", **folder).code == 1
    conversation_id = str(only_conversation(tmp_path)["conversationId"])
    assert piped(tmp_path, "ask", "-c", "last", "Where is xanaduxanadu?", **folder).code == 0
    piped(tmp_path, "rename", "last", "Kublaikhanly zanzibarissimo")
    piped(tmp_path, "tag", "last", "timbuktutag")
    path = tmp_path / "conversation-logs" / conversation_id
    (path / ".conversation.0123456789abcdef.tmp").write_bytes(b" ".join(MARKERS))
    name_a_file(tmp_path, conversation_id, b"a file of xanaduxanadu")
    calls = tmp_path / "conversation-logs" / ".calls"
    (calls / ("a" * 64)).write_text(json.dumps({"conversationId": conversation_id, "startedAt": "2026-01-31T00:00Z"}))
    (calls / f"{conversation_id}.stop").write_text("{}")
    put_conversation(tmp_path, OTHER, title="stays")
    with RawServer(tmp_path, XDG_CACHE_HOME=str(tmp_path / "home" / "cache")) as server:
        server.initialize()
        for query in ("xanaduxanadu", "timbuktutag", "zanzibarissimo"):
            assert conversation_id in listed(server, query=query)
        assert {word for _, word in marked(tmp_path)} == {word.decode() for word in MARKERS}
        if way == "trash empty":
            assert piped(tmp_path, "delete", conversation_id).code == 0
            assert conversation_id not in listed(server, query="xanaduxanadu")
            assert marked(tmp_path)
        given = ("delete", conversation_id, "--for-good") if way == "delete --for-good" else ("trash", "empty")
        ended = piped(tmp_path, *given, "--yes")
        assert (ended.code, ended.err) == (0, "")
        assert marked(tmp_path) == []
        assert "stays" in listed(server)
        server.end_of_input()
    assert marked(tmp_path) == []
    left = [path for path in (tmp_path / "conversation-logs").rglob("*") if conversation_id in path.name]
    assert left == []
    assert [path for path in calls.iterdir() if conversation_id in path.read_text()] == []


def test_a_person_is_asked_before_anything_is_deleted_for_good(tmp_path: Path) -> None:
    path = put_conversation(tmp_path, ID)
    with Terminal(tmp_path, "delete", ID, "--for-good") as terminal:
        terminal.until("[y/N]")
        terminal.type("n\n")
        ended = terminal.end()
    assert ended.code == 1
    assert "Nothing was deleted." in ended.out
    assert path.exists()
    assert piped(tmp_path, "delete", ID).code == 0
    with Terminal(tmp_path, "trash", "empty") as terminal:
        terminal.until("Delete 1 conversation in the trash for good? [y/N]")
        terminal.type("y\n")
        assert terminal.end().code == 0
    assert piped(tmp_path, "trash").out == ""


@pytest.mark.slow
def test_a_deletion_says_that_it_waits_for_a_question_of_another_process(tmp_path: Path, agent: LoopbackAgent) -> None:
    with subprocess.Popen(
        [*PROGRAM, "ask", "--deep", "one? [[hold]]"],
        env=clean_environment(tmp_path, agent.base_url),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as asking:
        conversation_id = until_noted(tmp_path)["conversationId"]
        busy = piped(tmp_path, "delete", "last", CONVERSATION_MCP_LOCK_WAIT_SECONDS="0")
        waited = piped(tmp_path, "delete", "last", CONVERSATION_MCP_LOCK_WAIT_SECONDS="2")
        renamed = piped(tmp_path, "rename", "last", "Meanwhile")
        cancelled = piped(tmp_path, "cancel", "last", base_url=agent.base_url)
        asking.communicate(timeout=100)
    assert (busy.code, busy.out) == (1, "")
    assert busy.err.startswith(f"CONVERSATION_BUSY: another follow-up on {conversation_id} is still running;")
    assert f"`conversation-mcp cancel {conversation_id}` stops it." in busy.err
    assert waited.err.startswith(f"{conversation_id} · waiting for its running question\n")
    assert renamed.out == f"{conversation_id}  is called: Meanwhile\n"
    assert cancelled.code == 0
    assert piped(tmp_path, "delete", "last").code == 0
    assert piped(tmp_path, "trash", "restore", "last").code == 0
    assert only_conversation(tmp_path)["title"] == "Meanwhile"


@pytest.mark.slow
def test_a_server_archives_what_is_idle_when_that_is_set(tmp_path: Path) -> None:
    path = put_conversation(tmp_path, ID)
    tagged = put_conversation(tmp_path, OTHER, tags=["keep"])
    with RawServer(tmp_path, CONVERSATION_TIMEOUT_HOURS="24") as server:
        server.initialize()
        while "archived" not in json.loads(path.read_bytes()):
            listed(server)
        server.end_of_input()
    assert "archived" not in json.loads(tagged.read_bytes())
