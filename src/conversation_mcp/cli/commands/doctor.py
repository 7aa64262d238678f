"""`doctor`: what is set, from where, whether it works, and how clients are told of it."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from conversation_mcp.cli.options import AsJson, Documents, LogsDir, ToolSets
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.cli.usage import WrongUsageError

if TYPE_CHECKING:
    from conversation_mcp.settings import LoadedSettings

ClientName = Literal["claude-code", "claude-desktop", "cursor", "vscode", "codex"]


def doctor(
    *,
    online: Annotated[bool, typer.Option("--online", help="Try the key with a call that costs nothing.")] = False,
    write: Annotated[
        ClientName | None, typer.Option(help="Put this server into the client's configuration file instead.")
    ] = None,
    with_key: Annotated[
        bool, typer.Option("--with-key", help="With --write: also the keys that your shell's environment has.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --write: do not ask.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    documents: Documents = None,
    tools: ToolSets = None,
) -> None:
    """Check everything, and show how to set up clients.

    The settings, the folder, the keys, the network's variables and the server itself are looked at.
    With --write the change to the client's file is shown first. The exit code is 1 when something fails.
    """
    if (yes or with_key) and write is None:
        raise WrongUsageError(f"{'--with-key' if with_key else '--yes'} goes with --write.")
    options: dict[str, object] = {"logs_dir": logs_dir, "documents": documents or None, "tools": tools}
    loaded = settings_from(options)
    if write is not None:
        _write(write, loaded, options, with_key=with_key, sure=yes)
        return
    from conversation_mcp.cli.checks.report import report

    raise typer.Exit(0 if report(loaded, options, online=online, as_json=as_json) else 1)


def _write(
    name: ClientName, loaded: "LoadedSettings", options: Mapping[str, object], *, with_key: bool, sure: bool
) -> None:
    from conversation_mcp.cli.clients.catalog import installation, launch_of, load_clients
    from conversation_mcp.cli.clients.keys import keys_of_shell
    from conversation_mcp.cli.clients.writer import write_client

    keys = {key.origin: os.environ[key.origin].strip() for key in keys_of_shell(loaded)} if with_key else {}
    if with_key and not keys:
        raise WrongUsageError("--with-key has nothing to write: no key comes from the environment of this shell.")
    write_client(load_clients()[name], launch_of(installation(), loaded, options, keys), loaded, sure=sure)
