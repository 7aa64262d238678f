"""The command `user export`: one archive with everything that is kept of a user."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from anyio import to_thread

from conversation_mcp import __version__
from conversation_mcp.cli.changes.session import opened
from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson, LogsDir
from conversation_mcp.cli.output.terminal import put, put_json, say
from conversation_mcp.cli.users.known import Name, settings_of
from conversation_mcp.cli.users.noting import note
from conversation_mcp.clock import utc_now
from conversation_mcp.conversations.prices import Prices
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.exporting.new_archive import new_archive
from conversation_mcp.exporting.user_data import UserData
from conversation_mcp.providers.model_facts import Catalogue
from conversation_mcp.stores.catalog import open_finder

if TYPE_CHECKING:
    from conversation_mcp.app import App

Output = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The archive to write, which must not exist. Default: a name with user and time, right here.",
    ),
]
UNSAFE_IN_NAMES = str.maketrans(dict.fromkeys('/\\:*?"<>|.', "-"))
NAME_CHARS = 60


def export_user(*, name: Name, output: Output = None, as_json: AsJson = False, logs_dir: LogsDir = None) -> None:
    """Write everything that is kept of a user into one archive.

    It has the conversations, also those in the trash, their files and images, memories, facts and costs, a README and
    checksums. Nothing is changed, and no file is replaced. What cannot be read is said here and in the archive.
    """
    settings = settings_of(name, logs_dir)
    target = (output or Path(_usual_name(name))).expanduser()
    folder = open_finder(settings.store_url, utc_now).folder  # that of everybody
    if folder is not None and target.resolve().is_relative_to(folder.resolve()):
        raise InvalidInputError(f"--output must lie outside of the folder of the conversations, {folder}.")

    prices = Prices(Catalogue(settings.models).load())
    with new_archive(target, utc_now()) as archive:

        async def work(app: "App") -> UserData:
            data = UserData(name, app.store, prices, utc_now, __version__)
            async for file in data.files():
                await to_thread.run_sync(archive.add, *file)
            # Before the archive appears: what cannot be noted is not handed out.
            await to_thread.run_sync(note, settings.store_url, name, "user export", data.ids)
            return data

        data = opened(settings, work)
    for problem in data.problems:
        say(f"Problem: {problem}")
    if as_json:
        put_json({"user": name, "archive": str(target), **data.figures(), "problems": data.problems})
    else:
        say(f"Exported of {name}: {', '.join(data.counts())}.")
        put(str(target))
    raise typer.Exit(FAILED if data.problems else 0)


def _usual_name(name: str) -> str:
    shown = name.translate(UNSAFE_IN_NAMES)[:NAME_CHARS].strip()
    return f"conversation-mcp-{shown}-{utc_now():%Y%m%d-%H%M%S}.zip"
