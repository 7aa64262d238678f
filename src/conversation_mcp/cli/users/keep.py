"""The command `user keep`: for how long servers keep the conversations of a user."""

from typing import Annotated

import typer

from conversation_mcp.cli.options import LogsDir
from conversation_mcp.cli.output.terminal import put, say
from conversation_mcp.cli.users.known import Name, settings_of
from conversation_mcp.cli.users.noting import note
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.ages import age_of
from conversation_mcp.stores.catalog import open_retention
from conversation_mcp.text import shorten

SHOWN_CHARS = 40
FOREVER = "forever"


def keep_user(
    *,
    name: Name,
    age: Annotated[
        str | None, typer.Argument(metavar="AGE", help="How long, such as 36h, 90d, 12w or 2y; or forever.")
    ] = None,
    logs_dir: LogsDir = None,
) -> None:
    """Set for how long the conversations of a user are kept, or show it.

    Running servers delete for good what was not touched for so long, within an hour, as user prune does: conversations
    with tags or a question without an answer are kept.
    """
    settings = settings_of(name, logs_dir)
    retention = open_retention(settings.store_url)
    if age is None:
        put(f"{name}  {retention.ages().get(name, FOREVER)}")
        return
    if age != FOREVER and age_of(age) is None:
        raise InvalidInputError(
            f"AGE must be one such as 36h, 90d, 12w or 2y, or forever; got {shorten(age, SHOWN_CHARS)!r}."
        )
    note(settings.store_url, name, f"user keep {age}")
    retention.put(name, None if age == FOREVER else age)
    put(f"{name}  {age}")
    if age != FOREVER:
        say(f"Servers delete what is older within an hour. To see what that is: user prune {name} --keep {age}.")
