"""What sync programs leave beside a conversation, and files of other versions."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.folders import ID, only_conversation
from tests.fixtures.handwritten import bytes_below, written
from tests.fixtures.processes import environment
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, error_of, serving

TURN = (("user", "one?"), ("assistant", "One."))
COPIES = [
    "conversation (1).json",
    "conversation 2.json",
    "conversation-HOST.json",
    "conversation.sync-conflict-20260131-120000-ABCDEFG.json",
    ".conversation.json.icloud",
    "conversation.json.tmp",
    "conversation.json~",
]


async def test_copies_of_a_sync_program_beside_the_file_are_ignored_and_left(tmp_path: Path) -> None:
    """Conflict copies: read instead of the file, taken for conversations of their own, or removed."""
    path = written(tmp_path, *TURN)
    for name in COPIES:
        (path.parent / name).write_bytes(b'{"messages": [{"role": "user", "content": "from the other computer"}]')
    provider = FakeProvider()
    async with serving(tmp_path, provider) as client:
        data_of(await client.call_tool("search_followup", {"conversationId": ID, "query": "two?"}))
        page = data_of(await client.call_tool("get_conversation_history", {"conversationId": ID}))
    assert [message.content for message in provider.requests[0].messages] == ["one?", "One.", "two?"]
    assert page["totalCount"] == 4
    assert {name for name in bytes_below(path.parent) if name != "conversation.json"} == set(COPIES)


async def test_a_placeholder_of_a_file_that_is_not_on_this_computer_is_no_new_conversation(tmp_path: Path) -> None:
    """A sync program that keeps the file elsewhere and leaves a placeholder."""
    path = written(tmp_path, *TURN)
    path.rename(path.with_name(".conversation.json.icloud"))
    provider = FakeProvider()
    async with serving(tmp_path, provider) as client:
        error = error_of(await client.call_tool("search_followup", {"conversationId": ID, "query": "two?"}))
    assert error["code"] == "CONVERSATION_NOT_FOUND"
    assert [found.name for found in path.parent.iterdir()] == [".conversation.json.icloud"]
    assert provider.requests == []


@pytest.mark.parametrize("name", [f"{ID} (1)", f"{ID} 2", f"{ID}.bak", "notes", "20260131-17698176000000"])
def test_folders_that_are_no_conversations_are_passed_over(tmp_path: Path, name: str) -> None:
    """Copies of whole folders, taken for conversations."""
    path = written(tmp_path, *TURN)
    pending = {"question": "two?", "status": "running"}
    copy = written(tmp_path, *TURN, conversation_id=name, pendingTurn=pending)
    before = bytes_below(tmp_path)
    run = subprocess.run(
        [sys.executable, "-m", "conversation_mcp", "resume"],
        check=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment(tmp_path),
        cwd=tmp_path,
    )
    assert "two?" not in run.stdout + run.stderr
    assert bytes_below(tmp_path) == before
    assert path.exists()
    assert copy.exists()


async def test_a_file_of_a_newer_version_goes_on_and_keeps_what_this_one_does_not_know(tmp_path: Path) -> None:
    """A stricter reader that cannot open the files of another version, or drops what it does not know."""
    newer: dict[str, Any] = {
        "schemaVersion": 9,
        "attachments": [{"id": 1, "hash": None}],
        "tags": ["a"],
        "archived": False,
    }
    written(tmp_path, *TURN, conversation_id=ID, **newer)
    async with serving(tmp_path, FakeProvider()) as client:
        data_of(await client.call_tool("search_followup", {"conversationId": ID, "query": "two?"}))
    stored = only_conversation(tmp_path)
    assert {name: stored[name] for name in newer} == newer
    assert stored["messageCount"] == 4
