"""The command `encrypt`: encrypts what is readable, or changes the key that everything is encrypted with."""

from typing import Annotated

import typer

from conversation_mcp.cli.changes.converted import convert, work_of
from conversation_mcp.cli.options import AsJson, LogsDir

AFTERWARDS = "What was readable until now may still be in backups, in journals and in free blocks of the disk."
ROTATED = "Take the old key out of the settings once no running program needs it."


def encrypt(
    *,
    rotate: Annotated[
        bool, typer.Option("--rotate", help="Use the first of the keys that are set instead of the others.")
    ] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without this, only show it.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """Encrypt the conversations of a folder.

    It needs the key in the settings. Conversations, contents, calls and the trash of all owners are encrypted; exports
    beside conversations are removed. It can be interrupted at any moment and run again. --rotate changes only the keys:
    set the new one first and the old one after it.
    """
    goal = "rotate" if rotate else "encrypt"
    convert(work_of(logs_dir), goal, ROTATED if rotate else AFTERWARDS, applied=apply, as_json=as_json)
