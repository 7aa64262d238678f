"""The command `doctor`: checks the installation and sets up clients."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

import anyio
import typer
from platformdirs import user_cache_path

from conversation_mcp.cli.checks.documents import check_documents
from conversation_mcp.cli.checks.folder import check_cache, check_place, check_store
from conversation_mcp.cli.checks.server import check_online, check_server
from conversation_mcp.cli.checks.settings import check_settings
from conversation_mcp.cli.clients.catalog import Client, Launch, installation, launch_of, load_clients
from conversation_mcp.cli.clients.keys import keys_of_shell
from conversation_mcp.cli.clients.writer import write_client
from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson, Documents, LogsDir, ToolSets
from conversation_mcp.cli.output.terminal import put, put_json
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.findings import Finding
from conversation_mcp.settings import LoadedSettings
from conversation_mcp.sources import APP_NAME, config_path

ClientName = Literal["claude-code", "claude-desktop", "cursor", "vscode", "codex"]


def doctor(
    *,
    online: Annotated[bool, typer.Option("--online", help="Try the key with a call that costs nothing.")] = False,
    write: Annotated[
        ClientName | None, typer.Option(help="Put this server into the client's configuration file instead.")
    ] = None,
    with_key: Annotated[
        bool, typer.Option("--with-key", help="With --write: also write the keys from your shell's environment.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --write: do not ask.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    documents: Documents = None,
    tools: ToolSets = None,
) -> None:
    """Check everything, and show how to set up clients.

    The checks cover the settings, the folder, the keys, the network's variables and the server itself.
    With --write, the change to the client's file is shown first. The exit code is 1 if a check fails.
    """
    if (yes or with_key) and write is None:
        raise InvalidInputError(f"{'--with-key' if with_key else '--yes'} goes with --write.")
    options: dict[str, object] = {"logs_dir": logs_dir, "documents": documents or None, "tools": tools}
    loaded = settings_from(options)
    if write is not None:
        _write(write, loaded, options, with_key=with_key, sure=yes)
    elif not _report(loaded, options, online=online, as_json=as_json):
        raise typer.Exit(FAILED)


def _write(
    name: ClientName, loaded: LoadedSettings, options: Mapping[str, object], *, with_key: bool, sure: bool
) -> None:
    keys = {key.origin: os.environ[key.origin].strip() for key in keys_of_shell(loaded)} if with_key else {}
    if with_key and not keys:
        raise InvalidInputError("--with-key has nothing to write: no key comes from the environment of this shell.")
    write_client(load_clients()[name], launch_of(installation(), loaded, options, keys), loaded, sure=sure)


def _report(loaded: LoadedSettings, options: Mapping[str, object], *, online: bool, as_json: bool) -> bool:
    """Print each finding as soon as it is known; return False if a check fails."""
    found: list[Finding] = []
    for finding in _findings(loaded, online=online):
        found.append(finding)
        if not as_json:
            put(finding.line())
    clients, launch = load_clients(), launch_of(installation(), loaded, options)
    if as_json:
        put_json(
            {
                "findings": [{"state": finding.state, "text": finding.text} for finding in found],
                "command": launch.command,
                "env": launch.variables,
                "clients": {client.name: _facts(client, launch) for client in clients.values()},
            }
        )
    else:
        put("\n".join(("", *_how_to(clients.values(), launch), *_about_keys(loaded))))
    return all(finding.state != "fail" for finding in found)


def _findings(loaded: LoadedSettings, *, online: bool) -> Iterable[Finding]:
    yield from check_settings(loaded, os.environ, online=online)
    yield from check_documents(loaded.settings)
    yield from check_place(loaded)
    yield from check_cache(user_cache_path(APP_NAME, appauthor=False))
    yield anyio.run(check_store, loaded.settings)
    if online:
        yield from anyio.run(check_online, loaded.settings)
    yield anyio.run(check_server, loaded.settings)


def _facts(client: Client, launch: Launch) -> dict[str, str]:
    facts = {
        "title": client.title,
        "path": str(client.path(os.environ, Path.home())),
        "add": client.how_to_add(launch),
        "content": client.snippet(launch),
    }
    return {name: text for name, text in facts.items() if text}


def _how_to(clients: Iterable[Client], launch: Launch) -> Iterable[str]:
    """Yield the configuration to paste: the client's own command if it has one, else the content of its file."""
    yield "Clients, with this installation's own path; `conversation-mcp doctor --write CLIENT` does it for you:"
    files: dict[str, list[Client]] = {}  # clients with the same content share one printout
    for client in clients:
        if add := client.how_to_add(launch):
            yield f"  {client.title}:  {add}"
        else:
            files.setdefault(client.snippet(launch), []).append(client)
    for snippet, sharing in files.items():
        for client in sharing:
            yield f"  {client.title}, in {client.path(os.environ, Path.home())}:"
        yield from (f"    {line}" for line in snippet.splitlines())


def _about_keys(loaded: LoadedSettings) -> Iterable[str]:
    if keys := keys_of_shell(loaded):
        variables, names = (
            " and ".join(texts) for texts in zip(*((key.origin, key.name) for key in keys), strict=True)
        )
        yield ""
        yield (
            f"Clients do not pass on your shell's {variables}. Put {names} into {config_path()} "
            "(`conversation-mcp config --write` creates it), or into the client's env: --write CLIENT --with-key."
        )
