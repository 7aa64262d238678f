"""The command `user delete`: everything that is kept of a user, for good."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from conversation_mcp.cli.changes.session import opened
from conversation_mcp.cli.changes.trashed import agreed_for_good
from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson, LogsDir
from conversation_mcp.cli.output.terminal import put, put_json, say
from conversation_mcp.cli.setup import finder_of
from conversation_mcp.cli.users.known import Name, settings_of
from conversation_mcp.cli.users.noting import note
from conversation_mcp.clock import utc_now
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.text import counted

if TYPE_CHECKING:
    from conversation_mcp.app import App
    from conversation_mcp.conversations.user_removal import UserConversations, UserFigures, UserRemoval
    from conversation_mcp.settings import Settings


def delete_user(
    *,
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """Delete everything that is kept of a user, for good.

    Conversations, the trash, files and images, memories, the index and vectors, calls, limits and marks of deletions.
    Running questions are stopped. Servers may run meanwhile. Says first what there is, asks once, and looks afterwards
    whether anything is left. Archives and exports that were written elsewhere stay.
    """
    settings = settings_of(name, logs_dir)
    found = opened(settings, _figures)
    if not (yes and as_json):
        say(f"Of {name} there are {_counts(found)}, {found.size_bytes:,} bytes in {found.place}.")
    agreed_for_good(f"Delete everything of {name} for good?", sure=yes)
    note(settings.store_url, name, "user delete", finder_of(settings).ids())
    done = opened(settings, _delete)
    for problem in done.problems:
        say(problem)
    left = [*done.problems, *(() if done.problems else anyio.run(_remove_all, settings))]
    note(settings.store_url, name, "user delete, in part" if left else "user delete, complete", done.ids)
    if as_json:
        put_json({"user": name, "deleted": list(done.ids), "isComplete": not left, "left": left})
    elif not left:
        put(f"{name}  deleted for good: {counted(len(done.ids), 'conversation')}; nothing of it is left")
    else:
        say(f"Not everything of {name} is deleted. Run this again once what is named above is settled.")
    raise typer.Exit(FAILED if left else 0)


async def _figures(app: "App") -> "UserFigures":
    return await _removal(app).figures()


async def _delete(app: "App") -> "UserConversations":
    return await _removal(app).delete_conversations(_report)


async def _remove_all(settings: "Settings") -> list[str]:
    """Remove what is left, and return what is still there; without the app, which would keep the index up to date."""
    open_own = partial(open_store, settings.store_url, utc_now, settings.owner, mirror=settings.mirror)
    store = await anyio.to_thread.run_sync(open_own)
    await store.remove_all()
    left = await store.traces()
    for trace in left:
        say(f"Still there: {trace}")
    return left


def _removal(app: "App") -> "UserRemoval":
    from conversation_mcp.conversations.user_removal import UserRemoval

    return UserRemoval(app.store, app.tidier, app.trash, app.watch.stop)


async def _report(headline: str) -> None:
    say(headline)


def _counts(found: "UserFigures") -> str:
    return f"{counted(found.conversation_count, 'conversation')} and {found.trashed_count:,} in the trash"
