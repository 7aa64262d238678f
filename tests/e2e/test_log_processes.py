"""Several processes of a chatbot log into one conversation of one folder."""

import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from tests.fixtures import chatbot_child
from tests.fixtures.logged import LOG, Chatbot
from tests.fixtures.serving import serving

NAMES = ("a", "b", "c", "d")
ROUNDS = 125


async def created(folder: Path) -> str:
    async with serving(folder, tools=LOG) as client:
        return await Chatbot(client).created()


async def logged(folder: Path, conversation_id: str) -> list[dict[str, str]]:
    """Return all messages, page by page."""
    found: list[dict[str, str]] = []
    async with serving(folder, tools=LOG) as client:
        has_more = True
        while has_more:
            page = await Chatbot(client)(
                "fetch_conversation_history", conversationId=conversation_id, limit=500, offset=len(found)
            )
            found += page["messages"]
            has_more = page["hasMore"]
    return found


@pytest.mark.slow
async def test_of_a_thousand_messages_by_four_processes_none_is_lost_or_out_of_order(tmp_path: Path) -> None:
    conversation_id = await created(tmp_path)

    def talk(name: str) -> None:
        command = [sys.executable, "-m", chatbot_child.__name__, str(tmp_path), conversation_id, name, str(ROUNDS)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr

    async with anyio.create_task_group() as group:
        for name in NAMES:
            group.start_soon(to_thread.run_sync, talk, name)
    messages = await logged(tmp_path, conversation_id)
    assert [one["messageId"] for one in messages] == [f"m-{number}" for number in range(1, 1_001)]
    for name in NAMES:
        own = [one["content"] for one in messages if one["content"].startswith(name)]
        assert own == [f"{name} {what} {number}" for number in range(ROUNDS) for what in ("asks", "answers")]
    assert [one["createdAt"] for one in messages] == sorted(one["createdAt"] for one in messages)
