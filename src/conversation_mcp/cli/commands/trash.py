"""The command `trash`: lists, restores and empties the trash."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from conversation_mcp.cli.changes.session import on_each, opened
from conversation_mcp.cli.changes.trashed import UNREADABLE, agreed_for_good, erase, put_trashed
from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson, LogsDir, Owner
from conversation_mcp.cli.output.terminal import console, is_terminal, printable, put_fields, put_json, say
from conversation_mcp.cli.output.times import when
from conversation_mcp.cli.selection.ids import LAST
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.clock import utc_now
from conversation_mcp.errors import ConversationNotFoundError, InvalidInputError
from conversation_mcp.records.models import parse_time
from conversation_mcp.text import counted, shorten

if TYPE_CHECKING:
    from conversation_mcp.app import App
    from conversation_mcp.conversations.trash_can import TrashedConversation
    from conversation_mcp.stores.base import Trashed

SHOWN_CHARS = 60
EMPTY = "The trash is empty."

trash = typer.Typer()
TrashedIds = Annotated[
    list[str], typer.Argument(metavar="ID", help="Conversations in the trash: ids, starts of them, or last.")
]


@trash.callback(invoke_without_command=True)
def show_trash(
    *, context: typer.Context, as_json: AsJson = False, logs_dir: LogsDir = None, owner: Owner = None
) -> None:
    """Show, restore or empty the trash.

    Without a command, lists the trash, latest deletion first. In a pipe, each conversation is a line of id, time of the
    deletion and title, separated by tabs.
    """
    if context.invoked_subcommand is not None:
        if as_json or logs_dir or owner:
            raise InvalidInputError(f"options of trash {context.invoked_subcommand} belong after it.")
        return

    async def work(app: "App") -> "list[TrashedConversation]":
        return [await app.trash.facts_of(trashed) for trashed in await app.trash.entries()]

    found = opened(settings_from({"logs_dir": logs_dir, "owner": owner}).settings, work)
    if as_json:
        put_json({"conversations": [each.data() for each in found]})
    elif is_terminal():
        _show(found)
    else:
        put_fields((each.conversation_id, each.deleted_at, each.title or UNREADABLE) for each in found)


@trash.command()
def restore(
    *, conversation_ids: TrashedIds, as_json: AsJson = False, logs_dir: LogsDir = None, owner: Owner = None
) -> None:
    """Restore conversations as they were when they were last deleted."""

    async def work(app: "App") -> list[str]:
        entries = await app.trash.entries()
        chosen = [_matching(entries, text)[0] for text in conversation_ids]
        restored: list[TrashedConversation] = []

        async def one(trashed: "Trashed") -> None:
            facts = await app.trash.facts_of(trashed)  # read while the file is still in the trash
            await app.trash.restore(trashed.conversation_id)
            restored.append(facts.model_copy(update={"conversation_path": app.store.location(trashed.conversation_id)}))

        problems = await on_each(dict.fromkeys(chosen), one)
        put_trashed(restored, "restored", problems, as_json=as_json)
        return problems

    raise typer.Exit(FAILED if opened(settings_from({"logs_dir": logs_dir, "owner": owner}).settings, work) else 0)


@trash.command()
def empty(
    *,
    conversation_ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Only these, by ids, starts of them, or last.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Delete everything in the trash for good, from the disk and the index."""
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings

    async def look(app: "App") -> "Sequence[Trashed]":
        entries = await app.trash.entries()
        if not conversation_ids:
            return entries
        return list(dict.fromkeys(trashed for text in conversation_ids for trashed in _matching(entries, text)))

    chosen = opened(settings, look)
    if not chosen and not as_json:
        say(EMPTY)
        return
    if chosen:
        agreed_for_good(f"Delete {counted(len(chosen), 'conversation')} in the trash for good?", sure=yes)

    async def work(app: "App") -> None:
        shown = [await app.trash.facts_of(trashed) for trashed in chosen]
        await erase(app, chosen)
        put_trashed(shown, "deleted for good", as_json=as_json)

    opened(settings, work)


def _matching(entries: "Sequence[Trashed]", text: str) -> "Sequence[Trashed]":
    """Return the trash entries of the conversation that the text means, latest deletion first."""
    if text == LAST:
        text = entries[0].conversation_id if entries else text
    found = [trashed for trashed in entries if text and trashed.conversation_id.startswith(text)]
    if not found:
        raise ConversationNotFoundError(shorten(text, SHOWN_CHARS), "the trash")
    if len(ids := sorted({trashed.conversation_id for trashed in found})) > 1:
        raise InvalidInputError(f"{len(ids)} conversations in the trash begin with {text}. Type more of the id.")
    return found


def _show(found: "Sequence[TrashedConversation]") -> None:
    if not found:
        say(EMPTY)
        return
    from rich.table import Table

    table, now = Table(box=None, pad_edge=False, header_style="bold"), utc_now().astimezone()
    table.add_column("deleted", no_wrap=True)
    table.add_column("title", no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column("id", no_wrap=True, style="dim")
    for each in found:
        table.add_row(when(parse_time(each.deleted_at), now), printable(each.title or UNREADABLE), each.conversation_id)
    console().print(table)
