"""A research at OpenAI outlives the server that asked for it, as one at Perplexity does: it is fetched, not asked again."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from tests.fixtures.chat_rules import KEY
from tests.fixtures.families import configured
from tests.fixtures.folders import only_conversation
from tests.fixtures.responses_server import ResponsesServer
from tests.fixtures.serving import settings_for

from conversation_mcp.app import App
from conversation_mcp.bootstrap import open_app
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.providers.responses.provider import ResponsesProvider
from conversation_mcp.turns.ask import Ask, Caller

ASK = Ask("deep_research", "deep_research", "Why? [[hold]]", "high", "openai:small-1")


@dataclass(frozen=True)
class Opened:
    """The program, and the moment from which on a run was looked at."""

    app: App
    looked: anyio.Event


@asynccontextmanager
async def opened(folder: Path, openai: ResponsesServer) -> AsyncGenerator[Opened]:
    """Open the program with a provider of its own, as a new process would have it; its looks follow quickly."""
    looked = anyio.Event()

    async def sleep(_seconds: float) -> None:
        if openai.looks:
            looked.set()
        await anyio.sleep(0.01)

    client = LazyClient()
    found = await anyio.to_thread.run_sync(lambda: configured("openai", openai.base_url, KEY))
    provider = ResponsesProvider(found, client, retries=0, sleep=sleep)
    async with open_app(settings_for(folder, ending_grace_seconds=0), providers=[provider]) as app:
        yield Opened(app, looked)
    await client.aclose()


async def started(program: Opened) -> str:
    """Start the research, and return its conversation when the run has been looked at."""
    running = await program.app.turns.start(ASK, Caller(0))
    with anyio.fail_after(60):
        await program.looked.wait()
    return running.conversation_id


async def test_a_research_of_a_server_that_ended_is_fetched_by_the_next_one(tmp_path: Path) -> None:
    with ResponsesServer("openai") as openai:
        async with opened(tmp_path, openai) as program:
            conversation_id = await started(program)
        pending = only_conversation(tmp_path)["pendingTurn"]
        assert (pending["status"], pending["provider"], pending["background"]) == ("running", "openai", True)
        assert pending["responseId"] == openai.looks[0]
        openai.released.set()
        async with opened(tmp_path, openai) as program:
            view = await program.app.watch.look(conversation_id, Caller(60))
        answer = view.conversation.messages[-1]
        assert (answer.content, answer.response_id, answer.provider) == (
            "answer 1 to: Why?",
            pending["responseId"],
            "openai",
        )
        assert (len(openai.requests), openai.paid) == (1, ["Why? [[hold]]"])


@pytest.mark.parametrize("is_another", [False, True])
async def test_a_research_that_nobody_wants_any_more_is_stopped_there(tmp_path: Path, is_another: bool) -> None:
    with ResponsesServer("openai") as openai:
        async with opened(tmp_path, openai) as program:
            conversation_id = await started(program)
            if not is_another:
                await program.app.watch.stop(conversation_id)
        if is_another:
            async with opened(tmp_path, openai) as program:
                await program.app.watch.stop(conversation_id)
        assert (only_conversation(tmp_path)["pendingTurn"]["status"], len(openai.cancels)) == ("failed", 1)
        assert len(openai.requests) == 1
