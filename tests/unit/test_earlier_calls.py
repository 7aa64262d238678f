"""What one look says of a call that was made before."""

from pathlib import Path

import pytest
from tests.fixtures.stores import Clock

from conversation_mcp.errors import EarlierTurnFailedError, ServerEndedError
from conversation_mcp.providers.base import Answer
from conversation_mcp.records.models import Conversation, PendingTurn, TurnError
from conversation_mcp.stores.base import Call
from conversation_mcp.stores.files.store import FileStore
from conversation_mcp.turns.ask import Ask
from conversation_mcp.turns.call_outcomes import Dead, Delivered, Free, Running
from conversation_mcp.turns.changes import answered, new_conversation
from conversation_mcp.turns.earlier_calls import EarlierCalls
from conversation_mcp.turns.resumer import Resumer
from conversation_mcp.turns.turn import RunningTurn
from conversation_mcp.turns.unsaved import UnsavedAnswers

ASK = Ask(tool="search", mode="search", question="one?", preset="low")


class NobodyResumes(Resumer):
    """For calls whose runs nobody can look up."""

    def __init__(self) -> None:
        pass

    async def resume(self, conversation: Conversation) -> RunningTurn:
        raise NotImplementedError(conversation)


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path, now=Clock(), is_durable=False)


@pytest.fixture
def earlier(store: FileStore) -> EarlierCalls:
    return EarlierCalls(store, NobodyResumes(), UnsavedAnswers(store))


async def asked(store: FileStore, **facts: object) -> tuple[Call, PendingTurn]:
    """Store a conversation that begins with the question, and return the call that it belongs to."""
    conversation_id = await store.reserve()
    started_at = "2026-01-31T00:00:00.000Z"
    known = {"status": "running", **facts}
    pending = PendingTurn.of(question=ASK.question, tool="search", provider="fake", started_at=started_at, **known)
    await store.create(new_conversation(conversation_id, "s", None).changed(pending_turn=pending))
    return Call(conversation_id, started_at), pending


@pytest.mark.parametrize(("is_ours", "outcome"), [(True, Free()), (False, Running())])
async def test_a_call_that_nobody_has_written_down_is_free_for_whoever_has_its_name(
    earlier: EarlierCalls, is_ours: bool, outcome: Free | Running
) -> None:
    assert await earlier.outcome(ASK, None, is_ours=is_ours, was_joined=False) == outcome


async def test_a_call_with_an_answer_is_delivered_with_a_notice(store: FileStore, earlier: EarlierCalls) -> None:
    call, pending = await asked(store)
    now = "2026-01-31T00:00:01.000Z"
    await store.update(call.conversation_id, lambda stored, _: answered(stored, pending, Answer(content="This."), now))
    outcome = await earlier.outcome(ASK, call, is_ours=True, was_joined=False)
    assert isinstance(outcome, Delivered)
    assert outcome.call == call
    assert outcome.result.raw_result_text == "This."
    assert "nothing was paid again" in "".join(outcome.result.notices or ())


async def test_an_answer_that_was_waited_for_needs_no_notice(store: FileStore, earlier: EarlierCalls) -> None:
    call, pending = await asked(store)
    await store.update(call.conversation_id, lambda stored, now: answered(stored, pending, Answer(content="."), now))
    outcome = await earlier.outcome(ASK, call, is_ours=False, was_joined=True)
    assert isinstance(outcome, Delivered)
    assert outcome.result.notices is None


async def test_a_call_whose_name_somebody_else_has_is_running(store: FileStore, earlier: EarlierCalls) -> None:
    call, _ = await asked(store)
    unwritten = Call(call.conversation_id, "2026-01-31T00:00:09.000Z")
    assert await earlier.outcome(ASK, call, is_ours=False, was_joined=False) == Running(call, is_asked=True)
    assert await earlier.outcome(ASK, unwritten, is_ours=False, was_joined=False) == Running(unwritten)


@pytest.mark.parametrize("was_joined", [True, False])
async def test_a_call_that_died_says_so_only_to_who_waited_for_it(
    store: FileStore, earlier: EarlierCalls, was_joined: bool
) -> None:
    call, _ = await asked(store)
    outcome = await earlier.outcome(ASK, call, is_ours=True, was_joined=was_joined)
    assert isinstance(outcome, Dead)
    assert outcome.is_failed_start
    assert isinstance(outcome.error, ServerEndedError) == was_joined


@pytest.mark.parametrize("is_told", [True, False])
async def test_a_call_that_failed_tells_its_error_once(store: FileStore, earlier: EarlierCalls, is_told: bool) -> None:
    call, _ = await asked(store, status="failed", error=TurnError(code="RATE_LIMITED", message="too many."))
    told = Call(call.conversation_id, call.started_at, is_told)
    outcome = await earlier.outcome(ASK, told, is_ours=True, was_joined=False)
    assert isinstance(outcome, Dead)
    assert isinstance(outcome.error, EarlierTurnFailedError) != is_told


async def test_a_look_leaves_the_register_as_it_was(store: FileStore, earlier: EarlierCalls) -> None:
    call, _ = await asked(store)
    await store.calls.claim("key", call)
    await earlier.outcome(ASK, call, is_ours=True, was_joined=True)
    assert await store.calls.find("key") == call
