"""Deleting everything of a user: no byte of it is left, while servers run, and nobody else loses anything."""

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.cli import PROGRAM, Terminal, clean_environment, piped
from tests.fixtures.processes import RawServer

from conversation_mcp.clock import utc_now
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.files.owners import home_of
from conversation_mcp.stores.files.store import FileStore

WORD, NAME, FILE = b"xanaduxanadu", "kublaikhanly", b"a file of zanzibarissimo"
TRACES = (WORD, NAME.encode(), b"zanzibarissimo", hash_of(FILE).encode())


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


def traces(folder: Path) -> list[tuple[str, bytes]]:
    """Return what of the user is in which file of the conversations or of the cache, in its bytes or in its name.

    The audit trail may hold the name, and nothing else.
    """
    paths = [*(folder / "conversation-logs").rglob("*"), *(folder / "home" / "cache").rglob("*")]
    found = [(path, path.read_bytes().lower() if path.is_file() else b"") for path in paths]
    named = [(str(path), path.name.lower().encode() + b"\0" + body) for path, body in found]
    return [(path, word) for path, text in named for word in TRACES if word in text and not _is_noted(path, word)]


def _is_noted(path: str, word: bytes) -> bool:
    return word == NAME.encode() and path.endswith("audit.jsonl")


def of_user(name: str) -> tuple[str, ...]:
    return () if name == "local" else ("--owner", name)


def fill(folder: Path, agent: LoopbackAgent, name: str) -> None:
    """Leave of the user whatever a program leaves: answers, a failure, memories, files, the trash, calls and limits."""
    at = {"base_url": agent.base_url}
    assert piped(folder, "ask", *of_user(name), "Where is xanaduxanadu?", **at).code == 0
    assert piped(folder, "ask", *of_user(name), "xanaduxanadu! [[fault:402]]", **at).code == 1
    assert piped(folder, "remember", *of_user(name), "xanaduxanadu is a place").code == 0
    assert piped(folder, "ask", *of_user(name), "xanaduxanadu, deleted", **at).code == 0
    assert piped(folder, "delete", *of_user(name), "last").code == 0
    assert piped(folder, "search", *of_user(name), "xanaduxanadu").code == 0
    home = home_of(folder / "conversation-logs", name)
    kept = next(path.parent for path in home.glob("*/conversation.json"))
    anyio.run(
        FileStore(home, now=utc_now, owner=name).attachments.put, ConversationId(kept.name), {hash_of(FILE): FILE}
    )
    (kept / ".conversation.0123456789abcdef.tmp").write_bytes(WORD)
    (home / "20260131-1769817600999").mkdir()
    for folder_name in (".calls", ".limits"):
        (home / folder_name).mkdir(exist_ok=True)
        (home / folder_name / ("a" * 64)).write_bytes(WORD)
    (home / ".deleted").write_bytes(WORD)


def until_asked(home: Path) -> None:
    """Wait until the id of the one run is on disk."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if any(b"responseId" in path.read_bytes() for path in home.glob("*/conversation.json")):
            return
        time.sleep(0.02)
    raise AssertionError("the question was never written")


@pytest.mark.slow
@pytest.mark.parametrize("name", [NAME, "local"])
def test_no_byte_of_a_user_is_left_while_a_server_runs(tmp_path: Path, agent: LoopbackAgent, name: str) -> None:
    """Every byte of the folder and of the cache is looked at."""
    other = "bob"
    assert piped(tmp_path, "ask", "--owner", other, "stays?", base_url=agent.base_url).code == 0
    fill(tmp_path, agent, name)
    cache = str(tmp_path / "home" / "cache")
    with RawServer(tmp_path, agent.base_url, CONVERSATION_MCP_OWNER=name, XDG_CACHE_HOME=cache) as server:
        server.initialize()
        server.call("list_conversations", 1, query="xanaduxanadu")
        assert "xanaduxanadu" in json.dumps(server.answer_to(1)["result"]["structuredContent"])
        assert {word for _, word in traces(tmp_path)} >= {WORD, hash_of(FILE).encode()}
        ended = piped(tmp_path, "user", "delete", name, "--yes")
        assert (ended.code, ended.out) == (
            0,
            f"{name}  deleted for good: 4 conversations; nothing of it is left\n",
        ), ended.err
        assert traces(tmp_path) == []
        server.call("list_conversations", 2)
        assert server.answer_to(2)["result"]["structuredContent"]["conversations"] == []
        server.call("search", 3, query="anything new?")
        again = server.answer_to(3)["result"]["structuredContent"]["conversationId"]
        server.end_of_input()
    assert {word for _, word in traces(tmp_path)} <= {NAME.encode()}
    assert piped(tmp_path, "list", *of_user(name)).out.startswith(again)
    assert "stays?" in piped(tmp_path, "list", "--owner", other).out


@pytest.mark.slow
def test_a_running_question_is_stopped_and_its_conversation_deleted(tmp_path: Path, agent: LoopbackAgent) -> None:
    with RawServer(tmp_path, agent.base_url, CONVERSATION_MCP_OWNER=NAME) as server:
        server.initialize()
        server.call("deep_research", 1, query="xanaduxanadu? [[hold]]")
        until_asked(home_of(tmp_path / "conversation-logs", NAME))
        ended = piped(tmp_path, "user", "delete", NAME, "--yes", base_url=agent.base_url)
        assert ended.code == 0, ended.err
        assert "error" in json.dumps(server.answer_to(1)).lower()
        server.end_of_input()
    assert [each for each in traces(tmp_path) if each[1] == WORD] == []


def test_a_person_is_told_what_there_is_and_asked_once(tmp_path: Path) -> None:
    assert piped(tmp_path, "remember", "--owner", NAME, "xanaduxanadu is a place").code == 0
    refused = piped(tmp_path, "user", "delete", NAME)
    assert refused.code == 2
    assert refused.err.startswith(f"Of {NAME} there are 1 conversation and 0 in the trash, ")
    assert "--yes" in refused.err
    with Terminal(tmp_path, "user", "delete", NAME) as terminal:
        terminal.until(f"Delete everything of {NAME} for good? [y/N]")
        terminal.type("n\n")
        assert terminal.end().code == 1
    assert traces(tmp_path)
    with Terminal(tmp_path, "user", "delete", NAME) as terminal:
        terminal.until("[y/N]")
        terminal.type("y\n")
        assert terminal.end().code == 0
    assert traces(tmp_path) == []
    assert piped(tmp_path, "user", "delete", NAME, "--yes").code == 1


@pytest.mark.slow
def test_a_deletion_that_was_killed_is_completed_by_the_next_one(tmp_path: Path, agent: LoopbackAgent) -> None:
    """Whatever a killed deletion has left, the user is still known until all of it is gone."""
    fill(tmp_path, agent, NAME)
    for seconds in (0.5, 0.7, 0.8, 0.9, 1.0, 1.2):
        with subprocess.Popen(
            [*PROGRAM, "user", "delete", NAME, "--yes"],
            env=clean_environment(tmp_path),
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as deleting:
            with suppress(subprocess.TimeoutExpired):
                deleting.wait(seconds)
            deleting.kill()
    ended = piped(tmp_path, "user", "delete", NAME, "--yes")
    assert ended.code == 0 or "Nothing is kept" in ended.err
    assert [trace for trace in traces(tmp_path) if trace[1] == WORD] == []
