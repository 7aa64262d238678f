"""Ids and times: one reading of the clock, and an order that does not depend on it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest
from tests.fixtures.folders import ID, only_conversation
from tests.fixtures.handwritten import written
from tests.fixtures.providers import FakeProvider, held
from tests.fixtures.serving import settings_for

from conversation_mcp.bootstrap import open_app
from conversation_mcp.records.ids import check_id, created_at
from conversation_mcp.turns.ask import Ask, Caller

START = datetime(2026, 1, 31, tzinfo=UTC)
FAR = "2999-01-01T00:00:00.000Z"
PATIENT = Caller(20)


def ask(question: str, tool: str = "search_followup") -> Ask:
    return Ask(tool, "search", question, "fast")


def clock(step_seconds: float) -> Callable[[], datetime]:
    """Return a clock that moves by so much with every reading."""
    readings: list[None] = []

    def now() -> datetime:
        readings.append(None)
        return START + timedelta(seconds=step_seconds * len(readings))

    return now


@pytest.mark.parametrize("step_seconds", [0.7, 0.0, -0.7, -90_000.0], ids=["on", "still", "back", "back by days"])
async def test_the_order_of_the_turns_is_kept_whatever_the_clock_does(tmp_path: Path, step_seconds: float) -> None:
    """Clocks that go back, or count whole seconds only, and messages that are then sorted by them."""
    provider = FakeProvider()
    async with open_app(settings_for(tmp_path), now=clock(step_seconds), providers=[provider]) as app:
        first = await app.turns.start(ask("question 1", "search"), PATIENT)
        for number in range(2, 6):
            await app.turns.follow_up(first.conversation_id, ask(f"question {number}"), PATIENT)
        view = await app.watch.look(first.conversation_id, Caller(0))
    stored = only_conversation(tmp_path)
    questions = [message["content"] for message in stored["messages"] if message["role"] == "user"]
    assert questions == [f"question {number}" for number in range(1, 6)]
    assert [message.content for message in view.conversation.messages] == [
        message["content"] for message in stored["messages"]
    ]
    assert [len(request.messages) for request in provider.requests] == [2, 4, 6, 8, 10]
    assert stored["createdAt"] <= stored["updatedAt"]


async def test_the_id_and_the_creation_time_come_from_one_reading_of_the_clock(tmp_path: Path) -> None:
    """Two readings of the clock, so that the name of a conversation and its date disagree."""
    async with open_app(settings_for(tmp_path), now=clock(33.333), providers=[FakeProvider()]) as app:
        result = await app.turns.start(ask("one?", "search"), PATIENT)
    stored = only_conversation(tmp_path)
    assert stored["createdAt"] == created_at(check_id(result.conversation_id))
    assert stored["createdAt"][:10].replace("-", "") == result.conversation_id[:8]
    assert stored["messages"][1]["createdAt"] == stored["createdAt"]


async def test_a_turn_of_the_future_does_not_stop_the_next_one(tmp_path: Path) -> None:
    """A computer whose clock was wrong once, and a conversation that is then newer than now for ever."""
    pending = {"question": "two?", "provider": "fake", "status": "running", "startedAt": FAR}
    written(tmp_path, ("user", "one?"), ("assistant", "One."), createdAt=FAR, updatedAt=FAR, pendingTurn=pending)
    async with open_app(settings_for(tmp_path), now=clock(1), providers=[FakeProvider()]) as app:
        view = await app.watch.look(ID, Caller(0))
        await app.turns.follow_up(ID, ask("three?"), PATIENT)
    assert view.pending_age_seconds == 0
    stored = only_conversation(tmp_path)
    assert stored["updatedAt"] == FAR
    assert stored["messages"][-2]["content"] == "three?"


async def test_an_answer_is_told_from_others_that_began_at_the_same_moment(tmp_path: Path) -> None:
    """A clock that counts coarsely, so that two calls of one moment are taken for each other."""
    release, asked = anyio.Event(), anyio.Event()
    provider = FakeProvider()
    async with open_app(settings_for(tmp_path), now=clock(0), providers=[provider]) as app:
        first = await app.turns.start(ask("one?", "search"), PATIENT)
        provider.scripts.append(held(release, asked))
        await app.turns.follow_up(first.conversation_id, ask("two?"), Caller(0))
        await asked.wait()
        release.set()
        await app.turns.follow_up(first.conversation_id, ask("three?"), PATIENT)
        again = await app.turns.follow_up(first.conversation_id, ask("two?"), PATIENT)
    assert again.raw_result_text == "answer 1 to two? [1]"
    assert len(provider.requests) == 3
