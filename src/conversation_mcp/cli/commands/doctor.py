"""The command `doctor`: checks the installation and sets up clients."""

import os
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Annotated, Literal

import anyio
import typer
from platformdirs import user_cache_path

from conversation_mcp.cli.checks.documents import check_documents
from conversation_mcp.cli.checks.folder import check_cache, check_encryption, check_place, check_store
from conversation_mcp.cli.checks.remote import check_remote
from conversation_mcp.cli.checks.server import check_online, check_server
from conversation_mcp.cli.checks.settings import check_settings
from conversation_mcp.cli.checks.vectors import check_vectors
from conversation_mcp.cli.clients.catalog import installation, launch_of, load_clients
from conversation_mcp.cli.clients.keys import keys_of_shell, lacking, lacking_token
from conversation_mcp.cli.clients.printing import facts_of, how_to_add
from conversation_mcp.cli.clients.remote import TOKEN_VARIABLE, Remote, remote_at
from conversation_mcp.cli.clients.writer import write_client
from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson, Documents, LogsDir, Owner, ToolSets
from conversation_mcp.cli.output.terminal import put, put_json
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.findings import Finding
from conversation_mcp.settings import LoadedSettings
from conversation_mcp.sources import APP_NAME, config_path

PASTE = "Clients, with this installation's own path; `conversation-mcp doctor --write CLIENT` does it for you:"
PASTE_URL = "Clients; `conversation-mcp doctor --write CLIENT --url {url}` does it for you:"
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
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Check the running server at this URL instead, with the token in CONVERSATION_MCP_TOKEN; with "
            "--write: tell the client of it.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="With --write: do not ask.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
    documents: Documents = None,
    tools: ToolSets = None,
) -> None:
    """Check everything, and show how to set up clients.

    The checks cover the settings, the folder, the keys, the network's variables and the server itself.
    With --url, they cover a running server as clients see it: TLS, token, both eras of the protocol, a round trip.
    With --write, the change to the client's file is shown first. The exit code is 1 if a check fails.
    """
    if (yes or with_key) and write is None:
        raise InvalidInputError(f"{'--with-key' if with_key else '--yes'} goes with --write.")
    options: dict[str, object] = {"logs_dir": logs_dir, "owner": owner, "documents": documents or None, "tools": tools}
    if url is not None:
        if online or with_key or any(value is not None for value in options.values()):
            raise InvalidInputError("--url goes with --write, --yes and --json; it needs no other options.")
        if not _visited(remote_at(url), write, as_json=as_json, sure=yes):
            raise typer.Exit(FAILED)
        return
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
    launch = launch_of(installation(), loaded, options, keys)
    write_client(load_clients()[name], launch, partial(lacking, loaded), sure=sure)


def _visited(remote: Remote, name: ClientName | None, *, as_json: bool, sure: bool) -> bool:
    """Tell the client of the remote server, or check that; return False if a check fails."""
    clients = load_clients()
    if name is not None:
        write_client(clients[name], remote, lacking_token, sure=sure)
        return True
    found = anyio.run(_remote_findings, remote, as_json)
    if as_json:
        told = {client.name: facts_of(client, remote) for client in clients.values()}
        put_json({"findings": [finding._asdict() for finding in found], "url": remote.url, "clients": told})
    else:
        put("\n".join(("", PASTE_URL.format(url=remote.url), *how_to_add(clients.values(), remote))))
    return all(finding.state != "fail" for finding in found)


async def _remote_findings(remote: Remote, as_json: bool) -> list[Finding]:
    found: list[Finding] = []
    async for finding in check_remote(remote.url, os.environ.get(TOKEN_VARIABLE, "").strip()):
        found.append(finding)
        if not as_json:
            put(finding.line())
    return found


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
                "clients": {client.name: facts_of(client, launch) for client in clients.values()},
            }
        )
    else:
        put("\n".join(("", PASTE, *how_to_add(clients.values(), launch), *_about_keys(loaded))))
    return all(finding.state != "fail" for finding in found)


def _findings(loaded: LoadedSettings, *, online: bool) -> Iterable[Finding]:
    yield from check_settings(loaded, os.environ, online=online)
    yield from check_documents(loaded.settings)
    yield from check_vectors(loaded.settings)
    yield from check_place(loaded)
    yield from check_encryption(loaded.settings)
    yield from check_cache(user_cache_path(APP_NAME, appauthor=False))
    yield anyio.run(check_store, loaded.settings)
    if online:
        yield from anyio.run(check_online, loaded.settings)
    yield anyio.run(check_server, loaded.settings)


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
