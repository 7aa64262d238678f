"""The command `decrypt`: makes readable what is encrypted."""

from typing import Annotated

import typer

from conversation_mcp.cli.changes.converted import convert, work_of
from conversation_mcp.cli.options import AsJson, LogsDir

AFTERWARDS = "Take the key out of the settings now: while it is there, what is written is encrypted again."


def decrypt(
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without this, only show it.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """Decrypt the conversations of a folder.

    It needs the key in the settings. It can be interrupted at any moment and run again. End the servers first: with the
    key, they encrypt what they write.
    """
    convert(work_of(logs_dir), "decrypt", AFTERWARDS, applied=apply, as_json=as_json)
