"""The doctor's report: a line for each finding, then how each client is set up."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import anyio
from platformdirs import user_cache_path

from conversation_mcp.cli.checks.documents import check_documents
from conversation_mcp.cli.checks.folder import check_cache, check_place, check_store
from conversation_mcp.cli.checks.server import check_online, check_server
from conversation_mcp.cli.checks.settings import check_settings
from conversation_mcp.cli.clients.catalog import Client, Launch, installation, launch_of, load_clients
from conversation_mcp.cli.clients.keys import keys_of_shell
from conversation_mcp.cli.output.terminal import put, put_json
from conversation_mcp.records.findings import Finding
from conversation_mcp.settings import LoadedSettings
from conversation_mcp.sources import APP_NAME, config_path


def report(loaded: LoadedSettings, options: Mapping[str, object], *, online: bool, as_json: bool) -> bool:
    """Print what was found, each line as soon as it is known; return False when something fails."""
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
    """Yield the ready-to-paste configuration: a command where a client has one, else the content of its file."""
    yield "Clients, with this installation's own path; `conversation-mcp doctor --write CLIENT` does it for you:"
    files: dict[str, list[Client]] = {}
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
            f"Clients do not pass your shell's {variables} on. Put {names} into {config_path()} "
            "(`conversation-mcp config --write` makes it), or into the client's env: --write CLIENT --with-key."
        )
