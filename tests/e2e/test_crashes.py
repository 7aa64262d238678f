"""Servers are killed at random moments; nothing that anybody saw is lost, and nothing is paid twice.

A short sweep runs with the other tests; `make crash` runs the long one. CRASH_KILLS and CRASH_SEED choose another.
"""

import json
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.agent import agent_process
from tests.fixtures.processes import RawServer

from conversation_mcp.models import Conversation, ConversationId
from conversation_mcp.stores.codec import decode

WORKERS = 4
KILLS = int(os.environ.get("CRASH_KILLS", "12"))
SEED = int(os.environ.get("CRASH_SEED", "20261127"))
FOLLOW_UPS = ("search_followup", "deep_research_followup")


@dataclass
class Worker:
    """A client that asks one question after the other and whose server is killed again and again."""

    number: int
    folder: Path
    base_url: str
    chance: random.Random
    kills: int
    asked: list[str] = field(default_factory=list[str])
    seen: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    problems: list[str] = field(default_factory=list[str])
    longest_life_seconds: float = 0.0
    """A call of this machine, and a little more, so that kills fall into all of its moments."""

    def run(self) -> None:
        try:
            self._work()
        except Exception as error:  # noqa: BLE001 -- told by the test, in the main thread
            self.problems.append(repr(error))

    def _work(self) -> None:
        conversation_id = self._first_conversation()
        while self.kills:
            question = f"worker {self.number} question {len(self.asked)} [[delay:0.1]] [[polls:1]]"
            self.asked.append(question)
            call = ("search", {"query": question})
            if conversation_id and self.chance.random() < 0.8:
                call = (self.chance.choice(FOLLOW_UPS), {"conversationId": conversation_id, "query": question})
            result = self._call(*call, mortal=True)
            if result is None and self._is_traceable(question):
                result = self._call(*call, mortal=False)
            if result is not None:
                conversation_id = result["conversationId"]
                self.seen.append((conversation_id, question, result["rawResultText"]))

    def _first_conversation(self) -> str:
        with RawServer(self.folder, self.base_url) as server:
            server.initialize()
            started = time.monotonic()
            server.call("search", query=f"worker {self.number} opens")
            result = server.answer_to(1)["result"]["structuredContent"]
            self.longest_life_seconds = 1.5 * (time.monotonic() - started) + 0.2
        return result["conversationId"]

    def _call(self, tool: str, arguments: dict[str, Any], *, mortal: bool) -> dict[str, Any] | None:
        """Return the result, or None when the server was killed before it came."""
        with RawServer(self.folder, self.base_url) as server:
            server.initialize()
            killer = threading.Timer(self.chance.uniform(0, self.longest_life_seconds), server.process.kill)
            if mortal:
                killer.start()
            try:
                server.call(tool, **arguments)
                result = server.answer_to(1)["result"]
            except (AssertionError, BrokenPipeError):
                if not mortal:
                    raise
                self.kills -= 1
                return None
            finally:
                killer.cancel()
                killer.join() if mortal else None
        assert not result.get("isError"), result
        return result["structuredContent"]

    def _is_traceable(self, question: str) -> bool:
        """Tell whether the file names the run, so that the same call again costs nothing."""
        for conversation in conversations(self.folder):
            pending = conversation.pending_turn
            if pending and pending.question == question:
                return pending.response_id is not None
            if any(message.content == question for message in conversation.messages):
                return True
        return False


def conversations(folder: Path) -> Iterator[Conversation]:
    for path in (folder / "conversation-logs").glob("*/conversation.json"):
        yield decode(path.read_bytes(), str(path), ConversationId(path.parent.name))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_sweep_of_kills_loses_nothing_and_pays_nothing_twice(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    with agent_process(journal) as base_url:
        workers = [
            Worker(number, tmp_path, base_url, random.Random(SEED + number), KILLS // WORKERS)
            for number in range(WORKERS)
        ]
        threads = [threading.Thread(target=worker.run) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [problem for worker in workers for problem in worker.problems] == []
    paid = Counter(entry["question"] for entry in map(json.loads, journal.read_text().splitlines()) if entry["paid"])
    assert [question for question, times in paid.items() if times > 1] == []
    stored = {conversation.conversation_id: conversation for conversation in conversations(tmp_path)}
    for worker in workers:
        for conversation_id, question, answer in worker.seen:
            messages = [message.content for message in stored[conversation_id].messages]
            assert messages[messages.index(question) + 1] == answer
    kept = Counter(question for conversation in stored.values() for question in questions_of(conversation))
    assert [question for question in paid if kept[question] != 1] == []
    assert all(alternates(conversation) for conversation in stored.values())


def questions_of(conversation: Conversation) -> list[str]:
    """Return every question of the file, answered or not."""
    pending = [conversation.pending_turn] if conversation.pending_turn else []
    answered = [message.content for message in conversation.messages if message.role == "user"]
    return answered + [turn.question for turn in (*(conversation.unanswered_turns or ()), *pending)]


def alternates(conversation: Conversation) -> bool:
    roles = [message.role for message in conversation.messages]
    return roles == ["system", *(["user", "assistant"] * ((len(roles) - 1) // 2))]
