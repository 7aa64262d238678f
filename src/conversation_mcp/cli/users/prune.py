"""The command `user prune`: keeps conversations of a user for a time, and deletes older ones for good."""

from typing import TYPE_CHECKING, Annotated

import typer

from conversation_mcp.cli.changes.session import opened
from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson, LogsDir
from conversation_mcp.cli.output.terminal import put, put_json, say
from conversation_mcp.cli.users.known import Name, settings_of
from conversation_mcp.cli.users.noting import note
from conversation_mcp.clock import utc_now
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.ages import age_of
from conversation_mcp.text import shorten

if TYPE_CHECKING:
    from conversation_mcp.app import App
    from conversation_mcp.conversations.retention import Deleted, Old, OldConversations

SHOWN_CHARS = 40


def prune_user(
    *,
    name: Name,
    keep: Annotated[str, typer.Option(metavar="AGE", help="How long conversations are kept: 36h, 90d, 12w, 2y.")],
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without this, only show it.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """Delete conversations of a user for good that were not touched for so long.

    Those that were moved to the trash so long ago are deleted, too. Conversations with tags or a question without an
    answer are kept. user keep has running servers do this.
    """
    age = age_of(keep)
    if age is None:
        raise InvalidInputError(
            f"--keep must be an age such as 36h, 90d, 12w or 2y; got {shorten(keep, SHOWN_CHARS)!r}."
        )
    settings = settings_of(name, logs_dir)

    async def look(app: "App") -> "Old":
        return await _conversations(app).look(age)

    old = opened(settings, look)
    problems = list(old.plan.problems)
    deleted: list[str] = []
    if apply and old.ids():
        note(settings.store_url, name, "user prune", old.ids())

        async def work(app: "App") -> "Deleted":
            return await _conversations(app).delete(old)

        done = opened(settings, work)
        deleted, problems = done.ids, problems + done.problems
    for problem in problems:
        say(problem)
    if as_json:
        put_json({"user": name, "isApplied": apply, "old": old.ids(), "deleted": deleted, "problems": problems})
    else:
        for conversation_id in deleted if apply else old.ids():
            put(f"{conversation_id}  {'deleted for good' if apply else 'would be deleted'}")
        say(f"Of {name}, {_told(len(old.ids()), len(deleted), old.plan.kept_count, applied=apply)}.")
    raise typer.Exit(FAILED if problems else 0)


def _conversations(app: "App") -> "OldConversations":
    from conversation_mcp.conversations.retention import OldConversations

    return OldConversations(app.pruner, app.trash, utc_now)


def _told(old_count: int, deleted_count: int, kept_count: int, *, applied: bool) -> str:
    kept = f"; {kept_count:,} with tags or an open question are kept" if kept_count else ""
    if applied:
        return f"{deleted_count:,} deleted for good{kept}"
    return f"{old_count:,} would be deleted for good with --apply{kept}"
