"""How clients are told of a server, as text to paste and as data."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from conversation_mcp.cli.clients.catalog import Client, Target


def facts_of(client: Client, target: Target) -> Mapping[str, str]:
    """Return what a program needs to set the client up."""
    facts = {
        "title": client.title,
        "path": str(client.path(os.environ, Path.home())),
        "add": target.how_to_add(client),
        "content": client.snippet(target),
    }
    return {name: text for name, text in facts.items() if text}


def how_to_add(clients: Iterable[Client], target: Target) -> Iterable[str]:
    """Yield the configuration to paste: the client's own command if it has one, else the content of its file."""
    files: dict[str, list[Client]] = {}  # clients with the same content share one printout
    for client in clients:
        if add := target.how_to_add(client):
            yield f"  {client.title}:  {add}"
        else:
            files.setdefault(client.snippet(target), []).append(client)
    for snippet, sharing in files.items():
        for client in sharing:
            yield f"  {client.title}, in {client.path(os.environ, Path.home())}:"
        yield from (f"    {line}" for line in snippet.splitlines())
