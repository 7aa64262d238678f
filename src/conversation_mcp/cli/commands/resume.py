"""The command `resume`: fetches the answers of interrupted questions."""

import math
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import Documents, LogsDir, Owner
from conversation_mcp.cli.output.terminal import put, say
from conversation_mcp.cli.questions.display import Display
from conversation_mcp.cli.questions.interrupts import Interrupt, interrupts
from conversation_mcp.cli.questions.standing import standing_of
from conversation_mcp.cli.selection.completion import complete_ids
from conversation_mcp.cli.selection.ids import resolve
from conversation_mcp.cli.setup import finder_of, settings_from
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.tooling.steps import COMMANDS

if TYPE_CHECKING:
    from conversation_mcp.app import App
    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.settings import Settings

STOPPING = "Stopping; nothing is lost."


def resume(
    *,
    conversation_id: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="One conversation: its id, the start of it, last, or /words in it. Default: all.",
            autocompletion=complete_ids,
        ),
    ] = None,
    logs_dir: LogsDir = None,
    owner: Owner = None,
    documents: Documents = None,
) -> None:
    """Fetch answers that nobody waited for.

    They are fetched by the ids of their runs; nothing is asked or paid again. The command waits for background runs.
    The exit code is 1 if a question still has no answer.
    """
    settings = settings_from({"logs_dir": logs_dir, "owner": owner, "documents": documents or None}).settings
    wanted = None if conversation_id is None else resolve(finder_of(settings), conversation_id)
    with interrupts(STOPPING) as interrupt:
        settled = anyio.run(_resume, settings, wanted, interrupt)
    if interrupt.number is not None:
        raise typer.Exit(interrupt.exit_code)
    raise typer.Exit(0 if settled else FAILED)


async def _resume(settings: "Settings", conversation_id: "ConversationId | None", interrupt: Interrupt) -> bool:
    from conversation_mcp.bootstrap import open_app

    settled = True
    async with open_app(settings) as app:
        with interrupt.scope():
            wanted = [conversation_id] if conversation_id else await _pending(app)
            if not wanted:
                say("No question is waiting for its answer.")
            for each in wanted:
                settled = await _resume_one(app, each) and settled
    return settled


async def _pending(app: "App") -> "list[ConversationId]":
    found = await anyio.to_thread.run_sync(app.store.finder.ids)
    return [conversation_id for conversation_id in found if await _is_pending(app, conversation_id)]


async def _is_pending(app: "App", conversation_id: "ConversationId") -> bool:
    try:
        pending = (await app.store.load(conversation_id)).pending_turn
    except ConversationMCPError as error:
        say(error.sentence(COMMANDS))
        return False
    return pending is not None and pending.status != "failed" and pending.error is None


async def _resume_one(app: "App", conversation_id: "ConversationId") -> bool:
    from conversation_mcp.turns.ask import Caller

    display = Display(streams=False)
    async with display.open():
        view = await app.watch.look(conversation_id, Caller(math.inf, display.report))
    for notice in view.notices:
        say(f"Notice: {notice}")
    put(f"{conversation_id}  {standing_of(view.conversation)}")
    return view.conversation.pending_turn is None
