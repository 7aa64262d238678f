"""The command `config`: shows each setting with its origin, and writes the configuration file."""

from pathlib import Path
from typing import Annotated

import typer

from conversation_mcp.cli.configuration.file import write_config
from conversation_mcp.cli.configuration.values import Value, values_of
from conversation_mcp.cli.options import AsJson, Documents, LogsDir, Owner, ToolSets
from conversation_mcp.cli.output.terminal import console, is_terminal, put, put_fields, put_json
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.sources import config_path


def config(
    *,
    path: Annotated[bool, typer.Option("--path", help="Print the path of the configuration file only.")] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Write the file, with every setting and its default in comments.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="With --write: replace the file, but keep its values and a copy of it.")
    ] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
    documents: Documents = None,
    tools: ToolSets = None,
) -> None:
    """Show each setting and where it comes from.

    Of keys, only the last characters are shown. In a pipe, each setting is a line of name, value and origin, separated
    by tabs.
    """
    if force and not write:
        raise InvalidInputError("--force goes with --write.")
    if path:
        put(str(config_path()))
    elif write:
        _write(config_path(), force=force)
    else:
        values = values_of(
            settings_from({"logs_dir": logs_dir, "owner": owner, "documents": documents or None, "tools": tools})
        )
        if as_json:
            put_json({value.name: {"value": value.shown or None, "origin": value.origin} for value in values})
        elif is_terminal():
            _show(values)
        else:
            put_fields((value.name, value.shown, value.origin) for value in values)


def _write(path: Path, *, force: bool) -> None:
    copy = write_config(path, force=force)
    put(f"{path} was written; lines that begin with # are defaults.")
    if copy:
        put(f"The previous file is in {copy}.")


def _show(values: list[Value]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("setting", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("from", overflow="fold", style="dim")
    for value in values:
        table.add_row(value.name, value.shown, value.origin)
    console().print(table)
    put(f"\nConfiguration file: {config_path()}" + ("" if config_path().exists() else " (there is none)"))
