"""Questions that have no answer yet: brought to their ends, or stopped."""

import math

import anyio

from conversation_mcp.app import App
from conversation_mcp.bootstrap import open_app
from conversation_mcp.cli.output.terminal import put, say
from conversation_mcp.cli.questions.display import Watching
from conversation_mcp.cli.questions.interrupts import Interrupt, interrupts
from conversation_mcp.cli.selection.ids import resolve
from conversation_mcp.cli.setup import finder_of
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.models import Conversation, ConversationId, PendingTurn
from conversation_mcp.settings import Settings
from conversation_mcp.text import dollars, shorten
from conversation_mcp.tooling.steps import COMMANDS
from conversation_mcp.turns.ask import Caller

SHOWN_QUESTION_CHARS = 60
STOPPING = "Stopping; nothing is lost."


def resume_turns(settings: Settings, wanted: str | None) -> int:
    """Bring the pending turns to their ends, print what became of each, and return the exit code.

    It is 0 when every question has its answer, 1 when one has not.
    """
    conversation_id = None if wanted is None else resolve(finder_of(settings), wanted)
    with interrupts(STOPPING) as interrupt:
        settled = anyio.run(_resume, settings, conversation_id, interrupt)
    if interrupt.number is not None:
        return interrupt.exit_code
    return 0 if settled else 1


def cancel_turn(settings: Settings, wanted: str) -> None:
    """Stop the conversation's running question and print what is known of its cost."""
    anyio.run(_cancel, settings, resolve(finder_of(settings), wanted))


async def _resume(settings: Settings, conversation_id: ConversationId | None, interrupt: Interrupt) -> bool:
    settled = True
    async with open_app(settings) as app:
        with interrupt.scope():
            wanted = [conversation_id] if conversation_id else await _pending(app)
            if not wanted:
                say("No question waits for its answer.")
            for each in wanted:
                settled = await _resume_one(app, each) and settled
    return settled


async def _pending(app: App) -> list[ConversationId]:
    found = await anyio.to_thread.run_sync(app.store.finder.ids)
    return [conversation_id for conversation_id in found if await _is_pending(app, conversation_id)]


async def _is_pending(app: App, conversation_id: ConversationId) -> bool:
    try:
        pending = (await app.store.load(conversation_id)).pending_turn
    except ConversationMCPError as error:
        say(error.sentence(COMMANDS))
        return False
    return pending is not None and pending.status != "failed" and pending.error is None


async def _resume_one(app: App, conversation_id: ConversationId) -> bool:
    watching = Watching(streams=False)
    async with watching.open():
        view = await app.watch.look(conversation_id, Caller(math.inf, watching.report))
    for notice in view.notices:
        say(f"Notice: {notice}")
    put(f"{conversation_id}  {_state(view.conversation)}")
    return view.conversation.pending_turn is None


async def _cancel(settings: Settings, conversation_id: ConversationId) -> None:
    async with open_app(settings) as app:
        conversation = await app.watch.stop(conversation_id)
        put(f"{conversation_id}  {_state(conversation)}")


def _state(conversation: Conversation) -> str:
    pending = conversation.pending_turn
    if pending is None:
        return f"answered, {len(conversation.messages)} messages"
    return f"{pending.status}: {shorten(pending.question, SHOWN_QUESTION_CHARS)}{_why(pending)}{_billed(pending)}"


def _why(pending: PendingTurn) -> str:
    return f" ({pending.error.message.rstrip('.')})" if pending.error else ""


def _billed(pending: PendingTurn) -> str:
    if pending.usage is None or pending.usage.cost_usd is None:
        return "; what was billed is not known"
    return f"; billed {dollars(pending.usage.cost_usd)}"
