"""`import`: conversations from elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from conversation_mcp.cli.options import AsJson, LogsDir
from conversation_mcp.cli.usage import WrongUsageError
from conversation_mcp.importing.catalog import IMPORT_FORMATS

AUTO = "auto"


def import_(
    *,
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A file, a folder or a zip archive, which is not unpacked.")
    ],
    file_format: Annotated[
        str,
        typer.Option("--format", metavar="FORMAT", help=f"auto looks at the content; or {', '.join(IMPORT_FORMATS)}."),
    ] = AUTO,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count; write nothing.")] = False,
    all_branches: Annotated[
        bool, typer.Option("--all-branches", help="Also import edited questions and other answers, as branches.")
    ] = False,
    deleted: Annotated[
        bool, typer.Option("--deleted", help="Also bring in again what was deleted here, in the trash or for good.")
    ] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """Bring in conversations from ChatGPT, Claude, Claude Code and others.

    Importing again adds only what is new, and nothing that was deleted here. What cannot be read is named and left out,
    and the exit code is 1 then. Times and titles are kept. Nothing is asked or sent.
    """
    from conversation_mcp.cli.changes.import_ import Wish, run_import

    if file_format not in {AUTO, *IMPORT_FORMATS}:
        raise WrongUsageError(f"--format must be {AUTO} or one of {', '.join(IMPORT_FORMATS)}; got {file_format!r}.")
    wanted = None if file_format == AUTO else file_format
    raise typer.Exit(run_import(Wish(path, wanted, dry_run, all_branches, deleted), logs_dir, as_json=as_json))
