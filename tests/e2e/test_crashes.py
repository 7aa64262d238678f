"""Servers and commands are killed and ended at random moments; nothing seen is lost, and nothing is paid twice.

A short sweep runs with the other tests; `make crash` runs the long one. CRASH_KILLS, CRASH_TERMS and CRASH_SEED choose
another.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.agent import agent_process
from tests.fixtures.processes import RawServer, environment

from conversation_mcp.records.codec import decode
from conversation_mcp.records.models import Conversation, ConversationId

SERVERS, COMMANDS = 3, 2
KILLS = int(os.environ.get("CRASH_KILLS", "10"))
TERMS = int(os.environ.get("CRASH_TERMS", "5"))
SEED = int(os.environ.get("CRASH_SEED", "20261127"))
TOLD_AT_THE_END = {"SERVER_ENDING", "PROVIDER_UNAVAILABLE"}
"""What a client hears whose question was not sent any more, or has no answer within the grace."""
FOLLOW_UPS = ("search_followup", "deep_research_followup")


@dataclass
class Worker:
    """A client that asks one question after the other and whose server is killed again and again."""

    number: int
    folder: Path
    base_url: str
    chance: random.Random
    ends: list[signal.Signals]
    """What the next processes die of."""
    asked: list[str] = field(default_factory=list[str])
    seen: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    untraceable: set[str] = field(default_factory=set[str])
    """What was ended before the id of its run was on disk: the same call again may be paid again, as is documented."""
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
        while self.ends:
            question = f"worker {self.number} question {len(self.asked)} [[delay:0.1]] [[polls:1]]"
            self.asked.append(question)
            call = ("search", {"query": question})
            if conversation_id and self.chance.random() < 0.8:
                call = (self.chance.choice(FOLLOW_UPS), {"conversationId": conversation_id, "query": question})
            result = self._call(*call, end=self.ends[-1])
            if result is None:
                if self._is_untraceable(question):
                    self.untraceable.add(question)
                result = self._call(*call)
                assert result
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

    def _call(self, tool: str, arguments: dict[str, Any], end: signal.Signals | None = None) -> dict[str, Any] | None:
        """Return the result, or None when the server was ended before it came."""
        with RawServer(self.folder, self.base_url) as server:
            server.initialize()
            with self._ending(server.process, end):
                try:
                    server.call(tool, **arguments)
                    result = server.answer_to(1)["result"]
                except (AssertionError, BrokenPipeError):
                    if end is None:
                        raise
                    return None
        if end and result.get("structuredContent", {}).get("code") in TOLD_AT_THE_END:
            return None
        assert not result.get("isError"), result
        is_left = end is not None and result["structuredContent"]["status"] == "running"
        return None if is_left else result["structuredContent"]

    @contextmanager
    def _ending(self, process: "subprocess.Popen[bytes]", end: signal.Signals | None) -> Generator[None]:
        """End the process at a random moment of the body, unless that is over before."""

        def strike() -> None:
            self.ends.pop()
            process.send_signal(end or signal.SIGKILL)

        striker = threading.Timer(self.chance.uniform(0, self.longest_life_seconds), strike)
        if end:
            striker.start()
        try:
            yield
        finally:
            striker.cancel()
            striker.join() if end else None

    def _is_untraceable(self, question: str) -> bool:
        """Tell whether the file has the question without the id of its run, so that the same call again asks anew."""
        left = [conversation.pending_turn for conversation in conversations(self.folder)]
        return any(turn and turn.question == question and turn.response_id is None for turn in left)


class CommandLoop(Worker):
    """Somebody who asks with the command line, one command after the other."""

    def _first_conversation(self) -> str:
        started = time.monotonic()
        result = self._call("search", {"query": f"worker {self.number} opens"})
        self.longest_life_seconds = 1.5 * (time.monotonic() - started) + 0.2
        assert result
        return result["conversationId"]

    def _call(self, tool: str, arguments: dict[str, Any], end: signal.Signals | None = None) -> dict[str, Any] | None:
        follows = ["--continue", arguments["conversationId"]] if "conversationId" in arguments else []
        deep = ["--deep"] if tool.startswith("deep") else []
        command = [sys.executable, "-m", "conversation_mcp", "ask", "--json", *deep, *follows, arguments["query"]]
        process = subprocess.Popen(
            command,
            env=environment(self.folder, self.base_url),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with process, self._ending(process, end):
            out, err = process.communicate(timeout=100)
        assert b"Traceback" not in err, err.decode()
        assert process.returncode in {0, *((-signal.SIGKILL, 128 + signal.SIGTERM, -signal.SIGTERM) if end else ())}, (
            err
        )
        return json.loads(out) if out.endswith(b"\n}\n") else None  # also of one that was ended after it had printed


def conversations(folder: Path) -> Iterator[Conversation]:
    for path in (folder / "conversation-logs").glob("*/conversation.json"):
        yield decode(path.read_bytes(), str(path), ConversationId(path.parent.name))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_sweep_of_kills_loses_nothing_and_pays_nothing_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / "journal.jsonl"
    with agent_process(journal) as base_url:
        workers = [
            kind(number, tmp_path, base_url, random.Random(SEED + number), ends_of(random.Random(SEED + number)))
            for number, kind in enumerate([Worker] * SERVERS + [CommandLoop] * COMMANDS)
        ]
        threads = [threading.Thread(target=worker.run) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [problem for worker in workers for problem in worker.problems] == []
    paid = Counter(entry["question"] for entry in map(json.loads, journal.read_text().splitlines()) if entry["paid"])
    untraceable = set[str]().union(*(worker.untraceable for worker in workers))
    doubles = {question for question, times in paid.items() if times > 1}
    with capsys.disabled():
        sys.stdout.write(f"\n{len(paid)} questions, {paid.total()} creates, {len(doubles)} again, as documented\n")
    assert doubles <= untraceable
    assert all(times <= 2 for times in paid.values())
    stored = {conversation.conversation_id: conversation for conversation in conversations(tmp_path)}
    for worker in workers:
        for conversation_id, question, answer in worker.seen:
            messages = [message.content for message in stored[conversation_id].messages]
            assert messages[messages.index(question) + 1] == answer
    kept = Counter(question for conversation in stored.values() for question in questions_of(conversation))
    assert [question for question in paid if kept[question] not in ({1, 2} if question in untraceable else {1})] == []
    assert all(alternates(conversation) for conversation in stored.values())


def ends_of(chance: random.Random) -> list[signal.Signals]:
    """Return a worker's share of what its processes die of, in no order."""
    workers = SERVERS + COMMANDS
    ends = [signal.SIGKILL] * (KILLS // workers) + [signal.SIGTERM] * (TERMS // workers)
    return chance.sample(ends, len(ends))


def questions_of(conversation: Conversation) -> list[str]:
    """Return every question of the file, answered or not."""
    pending = [conversation.pending_turn] if conversation.pending_turn else []
    answered = [message.content for message in conversation.messages if message.role == "user"]
    return answered + [turn.question for turn in (*(conversation.unanswered_turns or ()), *pending)]


def alternates(conversation: Conversation) -> bool:
    roles = [message.role for message in conversation.messages]
    return roles == ["system", *(["user", "assistant"] * ((len(roles) - 1) // 2))]
