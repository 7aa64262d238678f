"""`resume` and `cancel`: questions that have no answer yet."""

import math
from datetime import UTC, datetime

import anyio
import typer

from conversation_mcp.app import App
from conversation_mcp.bootstrap import open_app
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.models import Conversation, ConversationId, PendingTurn
from conversation_mcp.settings import Settings
from conversation_mcp.text import dollars, shorten
from conversation_mcp.turns.asking import Caller

SHOWN_QUESTION_CHARS = 60


def resume_turns(settings: Settings, conversation_id: str | None) -> bool:
    """Bring the pending turns to their ends and print what became of each; return False if one has no answer yet."""
    return anyio.run(_resume, settings, conversation_id)


def cancel_turn(settings: Settings, conversation_id: str) -> None:
    """Stop the conversation's running question and print what is known of its cost."""
    anyio.run(_cancel, settings, conversation_id)


async def _resume(settings: Settings, conversation_id: str | None) -> bool:
    async with open_app(settings) as app:
        if conversation_id is not None:
            return await _resume_one(app, conversation_id)
        settled = True
        for found in sorted(await app.store.changed_since(datetime.fromtimestamp(0, UTC))):
            if await _is_pending(app, found):
                settled = await _resume_one(app, found) and settled
        return settled


async def _is_pending(app: App, conversation_id: ConversationId) -> bool:
    try:
        pending = (await app.store.load(conversation_id)).pending_turn
    except ConversationMCPError as error:
        typer.echo(error.sentence(), err=True)
        return False
    return pending is not None and pending.status != "failed" and pending.error is None


async def _resume_one(app: App, conversation_id: str) -> bool:
    async def say(text: str) -> None:
        typer.echo(text, err=True)

    view = await app.watch.look(conversation_id, Caller(math.inf, say))
    for notice in view.notices:
        typer.echo(f"Notice: {notice}", err=True)
    typer.echo(f"{conversation_id}  {_state(view.conversation)}")
    return view.conversation.pending_turn is None


async def _cancel(settings: Settings, conversation_id: str) -> None:
    async with open_app(settings) as app:
        conversation = await app.watch.stop(conversation_id)
        typer.echo(f"{conversation_id}  {_state(conversation)}")


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
