"""Writes this server's entry to a client's file: shows the change, asks, and replaces the file in one step."""

import os
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from conversation_mcp.cli.clients.catalog import SERVER_NAME, Client, Target
from conversation_mcp.cli.clients.difference import difference, secrets_in
from conversation_mcp.cli.clients.entries import CannotEditError, edited, parsed
from conversation_mcp.cli.output.agreement import agreed
from conversation_mcp.cli.output.terminal import put, say
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import make_private_folder, read_linked_file, replace_file
from conversation_mcp.errors import ConversationMCPError, FilesystemError

Lacking = Callable[[Client, Container[str]], Iterable[str]]
"""Yields what will be missing when the client, with the variables of its entry, uses the server."""
BOM = "\ufeff"


class ClientFileError(ConversationMCPError):
    """A client's file was not changed."""

    code = "VALIDATION_ERROR"
    advice = "It was not changed; put the lines above into it by hand."


def write_client(client: Client, target: Target, lacking: Lacking, *, sure: bool) -> None:
    """Change the client's file once the user has seen the change and agreed; `sure` agrees in advance.

    Warns before that of anything the server will lack when the client starts it.

    Raises:
        ClientFileError: the file cannot be changed safely; the lines to add were printed.
        FilesystemError: it cannot be read or written, or another program changed it meanwhile.
        InvalidInputError: there is no terminal to ask on.
    """
    path = client.path(os.environ, Path.home())
    before = _read(path)
    try:
        after = edited(before.removeprefix(BOM), client, target)
    except CannotEditError as error:
        put(client.snippet(target.without_keys()), end="")
        raise ClientFileError(f"{path}: {error}.") from None
    texts = before.removeprefix(BOM), after
    data = [parsed(text, client) for text in texts]
    if texts[0] != after:
        known = tuple(target.public_values(client))
        secrets = {secret for each in data for secret in secrets_in(each, known)}
        put(difference(*texts, str(path), secrets), end="")
    for lack in lacking(client, _variables(data[1], client)):
        say(f"Warning: {lack}.")
    if texts[0] == after:
        put(f"{client.title} already has this server: {path}")
        return
    agreed(f"Write this to {path}?", sure=sure, to="write this", otherwise="Nothing was changed.")
    _write(path, before, (BOM if before.startswith(BOM) else "") + after)
    put(f"{path} is written. {target.what_next(client)}")


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
    """Replace the file that the path leads to and keep its permissions."""
    with explained(path):
        target = path.resolve()
        make_private_folder(target.parent)
        if _read(target) != before:  # the client may have written it while the user was thinking
            raise FilesystemError(str(path), "another program has just changed it")
        mode = target.stat().st_mode if target.exists() else None
        replace_file(target, after.encode())
        if mode is not None:
            target.chmod(mode & 0o777)
