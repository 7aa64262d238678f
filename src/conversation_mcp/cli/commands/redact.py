"""The command `redact`: replaces keys, cards and addresses in what is stored."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from anyio import to_thread

from conversation_mcp.cli.changes.session import on_each, opened
from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson, LogsDir, Owner
from conversation_mcp.cli.output.terminal import put, put_json, say
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.redacting.redactor import named_counts
from conversation_mcp.redacting.texts import TextRedaction
from conversation_mcp.text import counted

if TYPE_CHECKING:
    from conversation_mcp.app import App
    from conversation_mcp.conversations.stored_redaction import Counts, StoredRedaction
    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.stores.base import Trashed

    Found = dict[ConversationId, Counts]


def redact(
    *,
    older: Annotated[bool, typer.Option("--older", help="All conversations that are stored already.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without this, only show it.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Replace keys, cards and addresses in what is stored.

    CONVERSATION_MCP_REDACT says which kinds. It replaces them in messages, questions without an answer, titles, tags,
    memories, summaries, steps of workflows and texts of files, and removes their words from the index. It cannot be
    undone. The trash is looked at and stays as it is.
    """
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    if not older:
        raise InvalidInputError("say what to redact: --older means all conversations that are stored already.")
    if not settings.redact:
        raise InvalidInputError("CONVERSATION_MCP_REDACT names no kinds; set it to keys,cards for example.")

    async def work(app: "App") -> int:
        from conversation_mcp.conversations.stored_redaction import StoredRedaction

        redaction = StoredRedaction(app.store, TextRedaction(settings.redact))
        found, problems = await _each(app, redaction, yes=yes)
        trashed = await _in_trash(app, redaction, problems)
        if as_json:
            put_json(_data(found, trashed, problems, yes=yes))
        else:
            _show(found, trashed, yes=yes)
        return FAILED if problems else 0

    raise typer.Exit(opened(settings, work))


async def _each(app: "App", redaction: "StoredRedaction", *, yes: bool) -> "tuple[Found, list[str]]":
    found: Found = {}

    async def on_one(conversation_id: "ConversationId") -> None:
        if counts := await (redaction.redact if yes else redaction.look)(conversation_id):
            found[conversation_id] = counts

    problems = await on_each(await to_thread.run_sync(app.store.finder.ids), on_one)
    if yes:
        await redaction.forget(found.keys())
    return found, problems


async def _in_trash(app: "App", redaction: "StoredRedaction", problems: list[str]) -> "Found":
    found: Found = {}

    async def on_one(trashed: "Trashed") -> None:
        if counts := await redaction.look_at_trashed(trashed):
            found[trashed.conversation_id] = counts

    problems += await on_each(await app.trash.entries(), on_one)
    return found


def _show(found: "Found", trashed: "Found", *, yes: bool) -> None:
    for conversation_id, counts in found.items():
        put(f"{conversation_id}  {named_counts(counts)}")
    done = "redacted" if yes else "to redact"
    total = f": {named_counts(_total(found))}" if found else ""
    say(f"{counted(len(found), 'conversation')} {done}{total}.{' Do it with --yes.' if found and not yes else ''}")
    if trashed:
        say(f"In the trash, {named_counts(_total(trashed))} stay until it is emptied: conversation-mcp trash empty.")


def _data(found: "Found", trashed: "Found", problems: list[str], *, yes: bool) -> dict[str, Any]:
    return {
        "applied": yes,
        "conversations": _listed(found),
        "counts": dict(_total(found)),
        "trash": _listed(trashed),
        "problems": problems,
    }


def _listed(found: "Found") -> list[dict[str, Any]]:
    return [{"conversationId": name, "counts": dict(counts)} for name, counts in found.items()]


def _total(found: "Found") -> "Counts":
    total: Counts = Counter()
    for counts in found.values():
        total.update(counts)
    return total
