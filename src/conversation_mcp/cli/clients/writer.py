"""Puts this server into a client's file: shows the change, asks, and writes it in one step."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from conversation_mcp.cli.clients.catalog import SERVER_NAME, Client, Launch
from conversation_mcp.cli.clients.difference import difference, secrets_in
from conversation_mcp.cli.clients.entries import CannotEditError, edited, parsed
from conversation_mcp.cli.clients.keys import lacking
from conversation_mcp.cli.output.agreement import agreed
from conversation_mcp.cli.output.terminal import put, say
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import make_private_folder, read_linked_file, replace_file
from conversation_mcp.errors import ConversationMCPError, FilesystemError
from conversation_mcp.settings import LoadedSettings

BOM = "\ufeff"


class ClientFileError(ConversationMCPError):
    """A client's file was left as it is."""

    code = "VALIDATION_ERROR"
    advice = "It was not changed; put the lines above into it by hand."


def write_client(client: Client, launch: Launch, loaded: LoadedSettings, *, sure: bool) -> None:
    """Change the file of the client after a person has seen the change and agreed, or has agreed before.

    What the server will lack, started by the client with these settings, is said before.

    Raises:
        ClientFileError: the file cannot be changed safely; what to put into it was printed.
        FilesystemError: it cannot be read or written, or somebody else has changed it meanwhile.
        WrongUsageError: nobody can be asked.
    """
    path = client.path(os.environ, Path.home())
    before = _read(path)
    try:
        after = edited(before.removeprefix(BOM), client, launch)
    except CannotEditError as error:
        put(client.snippet(launch.without_keys()), end="")
        raise ClientFileError(f"{path}: {error}.") from None
    texts = before.removeprefix(BOM), after
    data = [parsed(text, client) for text in texts]
    if texts[0] != after:
        secrets = {
            secret for each in data for secret in secrets_in(each, (*launch.command, *launch.variables.values()))
        }
        put(difference(*texts, str(path), secrets), end="")
    for lack in lacking(loaded, client, _variables(data[1], client)):
        say(f"Warning: {lack}.")
    if texts[0] == after:
        put(f"{client.title} knows this server already: {path}")
        return
    agreed(f"Write this to {path}?", sure=sure, to="write this", otherwise="Nothing was changed.")
    _write(path, before, (BOM if before.startswith(BOM) else "") + after)
    put(f"{path} is written. {client.after}")


def _variables(data: Mapping[str, Any], client: Client) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", data[client.key][SERVER_NAME].get("env") or {})


def _read(path: Path) -> str:
    with explained(path):
        try:
            return read_linked_file(path).decode()
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError:
            raise FilesystemError(str(path), "is not UTF-8") from None


def _write(path: Path, before: str, after: str) -> None:
    """Replace the file that the path leads to, with the rights it has."""
    with explained(path):
        target = path.resolve()
        make_private_folder(target.parent)
        if _read(target) != before:
            raise FilesystemError(str(path), "somebody else has changed it just now")
        mode = target.stat().st_mode if target.exists() else None
        replace_file(target, after.encode())
        if mode is not None:
            target.chmod(mode & 0o777)
