"""Settings for everything of one user, who must be known."""

from pathlib import Path
from typing import Annotated

import typer

from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.output.terminal import say
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.owners import REQUIREMENT, is_owner
from conversation_mcp.settings import Settings
from conversation_mcp.stores.catalog import owners_in

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user, as owners shows the name.")]


def checked(name: str) -> str:
    """Return the name if it can be one of a user.

    Raises:
        InvalidInputError: it cannot.
    """
    if not is_owner(name):
        raise InvalidInputError(f"NAME {REQUIREMENT}; got {name!r}.")
    return name


def settings_of(name: str, logs_dir: Path | None) -> Settings:
    """Return the settings with the user as the owner.

    Raises:
        InvalidInputError: it is no name of a user.
        typer.Exit: there is nothing of that user.
    """
    settings = settings_from({"logs_dir": logs_dir, "owner": checked(name)}).settings
    if name not in owners_in(settings.store_url):
        say(f"Nothing is kept of {name}. conversation-mcp owners shows whose conversations there are.")
        raise typer.Exit(FAILED)
    return settings
