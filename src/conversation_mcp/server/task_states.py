"""Questions as tasks: the id of a task locates its question, and the conversation's file holds its state."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

from mcp import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult

from conversation_mcp.app import App
from conversation_mcp.errors import (
    ConversationMCPError,
    ConversationNotFoundError,
    EarlierTurnFailedError,
    RunCancelledError,
)
from conversation_mcp.records.ids import EPOCH, milliseconds_of
from conversation_mcp.records.models import Conversation, ConversationId, Message, PendingTurn, iso, parse_time
from conversation_mcp.server.calls import ToolCalls
from conversation_mcp.stores.base import Call
from conversation_mcp.text import shorten
from conversation_mcp.tooling.questions import with_next_step
from conversation_mcp.tooling.rendering.turns import render_turn
from conversation_mcp.turns.ask import Caller, QuestionPlace
from conversation_mcp.turns.consensus_result import consensus_result
from conversation_mcp.turns.earlier_calls import note_told
from conversation_mcp.turns.result import answer_result
from conversation_mcp.turns.settler import is_fetchable
from conversation_mcp.turns.stored_turns import FoundTurn, find_turn, stored_answer
from conversation_mcp.turns.watch import View

TASK_ID = re.compile(
    r"(?P<conversation>[0-9]{8}-[0-9]{13})\.(?P<milliseconds>[0-9]{13})\.(?P<key>[0-9a-f]{64})(?P<thinking>t?)"
)
POLL_INTERVAL_MILLISECONDS = 2_000
INTERRUPTED = "the server ended before the answer came; ask again to try anew."

Task = dict[str, Any]


def task_id_of(place: QuestionPlace) -> str:
    """Return the id of the question's task, from which any process can locate the question."""
    milliseconds = milliseconds_of(parse_time(place.started_at))
    return f"{place.conversation_id}.{milliseconds:013d}.{place.key}{'t' if place.show_thinking else ''}"


def place_of(task_id: str) -> QuestionPlace:
    """Return the place of the task's question; raise MCPError if this is not one of our ids."""
    found = TASK_ID.fullmatch(task_id)
    if found is None:
        raise unknown(task_id)
    started = EPOCH + timedelta(milliseconds=int(found["milliseconds"]))
    return QuestionPlace(ConversationId(found["conversation"]), iso(started), found["key"], bool(found["thinking"]))


def unknown(task_id: str) -> MCPError:
    """Return the error of a task that does not exist."""
    return MCPError(code=INVALID_PARAMS, message=f"there is no task {shorten(task_id, 160)!r}.")


def working(place: QuestionPlace, doing: str = "the question is being answered") -> Task:
    """Return the task of a question without an answer; it exists as long as its conversation."""
    return {
        "taskId": task_id_of(place),
        "status": "working",
        "statusMessage": doing,
        "createdAt": place.started_at,
        "lastUpdatedAt": place.started_at,
        "ttlMs": None,
        "pollIntervalMs": POLL_INTERVAL_MILLISECONDS,
    }


async def state_of(place: QuestionPlace, app: App, calls: ToolCalls, caller: Caller) -> Task:
    """Return the task as it is now; the turn of a dead server is settled first. A final state counts as delivered.

    Raises:
        MCPError: there is no such task, or its conversation cannot be read.
    """
    if turn := app.running.get(place.key):
        return working(place, turn.audience.doing)
    with _readable(place, calls):
        view = await app.watch.look(place.conversation_id, Caller(wait_seconds=0))
    found = _found(place, view.conversation)
    if _is_open(found, view.conversation):
        return working(place, *view.notices[:1])
    call = Call(place.conversation_id, place.started_at)
    is_kept = view.conversation.turn_count == 0 or bool(isinstance(found, PendingTurn) and found.calls)
    stays = found is view.conversation.pending_turn and is_kept
    await caller.on_result(partial(note_told, app.store.calls, place.key, call, stays=stays))
    if isinstance(found, Message):
        end = await _answered(found, place, view, app, calls)
    else:
        end = _unanswered(found, calls, place)
    return {**working(place), **end}


async def is_unfinished(place: QuestionPlace, app: App, calls: ToolCalls) -> bool:
    """Tell whether the question may still get an answer, without asking a provider; raise MCPError like `state_of`."""
    with _readable(place, calls):
        conversation = await app.store.load(place.conversation_id)
    return _is_open(_found(place, conversation), conversation)


def _found(place: QuestionPlace, conversation: Conversation) -> FoundTurn:
    found = find_turn(conversation, place.started_at)
    if found is None:
        raise unknown(task_id_of(place))
    return found


def _is_open(found: FoundTurn, conversation: Conversation) -> bool:
    """Tell whether the turn is the pending one and either runs or can still be fetched by the id of its run."""
    pending = conversation.pending_turn
    return pending is not None and found is pending and (pending.status == "running" or is_fetchable(pending))


async def _answered(reply: Message, place: QuestionPlace, view: View, app: App, calls: ToolCalls) -> Task:
    """Return the final state of the task, with the result that the tool would have returned."""
    # Later turns are cut off: the result has the turn number and message count of its own time.
    messages = view.conversation.messages
    upto = next(number for number, message in enumerate(messages, 1) if message is reply)
    question = messages[upto - 2]
    while reply.stance and upto < len(messages) and messages[upto].stance:
        upto += 1
    saved = view.conversation.changed(messages=messages[:upto], message_count=upto)
    path, notice = app.store.location(place.conversation_id), "; ".join(view.notices) or None
    if reply.stance:
        from conversation_mcp.tooling.rendering.consensus import render_consensus

        verdicts = await with_next_step(consensus_result(saved, reply, path, notice), app, app.mode_of(question.tool))
        result = calls.as_result(verdicts, render_consensus)
        return _ended("completed", "answered", reply.created_at or place.started_at, result=_dumped(result))
    record = answer_result(
        stored_answer(reply),
        conversation_id=place.conversation_id,
        provider=reply.provider,
        requested_model=reply.requested_model,
        path=path,
        saved=saved,
        asked=question,
        show_thinking=place.show_thinking,
        extra_notice=notice,
    )
    record = await with_next_step(record, app, app.mode_of(question.tool))
    result = calls.as_result(record, render_turn)
    return _ended("completed", "answered", reply.created_at or place.started_at, result=_dumped(result))


def _unanswered(left: PendingTurn, calls: ToolCalls, place: QuestionPlace) -> Task:
    if left.error is None:
        error = {"code": INTERNAL_ERROR, "message": INTERRUPTED}
        return _ended("failed", INTERRUPTED, place.started_at, error=error)
    if left.error.code == RunCancelledError.code:
        return _ended("cancelled", left.error.message, place.started_at)
    told = EarlierTurnFailedError(left.error.code, left.error.message, place.conversation_id)
    return _ended("completed", left.error.message, place.started_at, result=_dumped(calls.as_error(told)))


def _ended(status: str, message: str, since: str, **outcome: object) -> Task:
    return {"status": status, "statusMessage": message, "lastUpdatedAt": since, **outcome}


def _dumped(result: CallToolResult) -> dict[str, Any]:
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


@contextmanager
def _readable(place: QuestionPlace, calls: ToolCalls) -> Generator[None]:
    try:
        yield
    except ConversationNotFoundError:
        raise unknown(task_id_of(place)) from None
    except ConversationMCPError as error:
        raise MCPError(code=INTERNAL_ERROR, message=calls.told(error)) from None
