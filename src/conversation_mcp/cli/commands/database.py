"""The command `database`: which version the tables of the store have, and how they get to the one that is needed."""

import os
from pathlib import Path
from typing import Annotated

import typer

from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.output.terminal import put, say
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.sources import config_path, store_of
from conversation_mcp.stores.catalog import open_tables
from conversation_mcp.stores.tables import Tables
from conversation_mcp.text import counted

Url = Annotated[str | None, typer.Option("--url", help="The URL of the database; else the store of the settings.")]

database = typer.Typer()


@database.callback(invoke_without_command=True)
def show_or_change(*, context: typer.Context) -> None:
    """Show or renew the tables of a store in a database."""
    if context.invoked_subcommand is None:
        raise InvalidInputError("say what to do: database status, or database migrate.")


@database.command("status")
def show_status(*, url: Url = None) -> None:
    """Show the version of the tables; the exit code is 1 unless this program can use them."""
    tables = _tables(url)
    found = tables.versions()
    there = f"tables of version {found.present}" if found.present else "no tables yet"
    newer = " and can use these" if found.are_usable and found.present > found.needed else ""
    put(f"{tables.place}: {there}; this version of conversation-mcp needs version {found.needed}{newer}")
    _say_what_is_missing(tables)
    if not found.are_usable:
        raise typer.Exit(FAILED)


@database.command("migrate")
def migrate(*, url: Url = None) -> None:
    """Create the tables, or bring them to the version that this program needs.

    The role of the URL must be allowed to create tables. It is harmless to run this twice or on several machines.
    """
    tables = _tables(url)
    done = tables.migrate()
    put(f"{tables.place}: {counted(len(done), 'migration')} done, version {tables.versions().present}")
    _say_what_is_missing(tables)


def _say_what_is_missing(tables: Tables) -> None:
    if missing := tables.without_meaning():
        say(f"{missing[0].upper()}{missing[1:]}.")


def _tables(url: str | None) -> Tables:
    return open_tables(url or store_of(None, os.environ, config_path(), Path.cwd()))
