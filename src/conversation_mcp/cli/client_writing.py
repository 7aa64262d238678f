"""Puts this server into a client's file: shows the change, asks, and writes it in one step."""

import os
from difflib import unified_diff
from pathlib import Path

from conversation_mcp.cli.agreeing import agreed
from conversation_mcp.cli.client_entries import CannotEditError, edited
from conversation_mcp.cli.clients import Client, Launch
from conversation_mcp.cli.terminal import put
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import make_private_folder, replace_file
from conversation_mcp.errors import ConversationMCPError, FilesystemError
from conversation_mcp.logs import redact

BOM = "\ufeff"


class ClientFileError(ConversationMCPError):
    """A client's file was left as it is."""

    code = "VALIDATION_ERROR"
    advice = "It was not changed; put the lines above into it by hand."


def write_client(client: Client, launch: Launch, *, sure: bool) -> None:
    """Change the file of the client after a person has seen the change and agreed, or has agreed before.

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
        put(client.snippet(launch), end="")
        raise ClientFileError(f"{path}: {error}.") from None
    if after == before.removeprefix(BOM):
        put(f"{client.title} knows this server already: {path}")
        return
    put(_difference(before.removeprefix(BOM), after, str(path)), end="")
    agreed(f"Write this to {path}?", sure=sure, to="write this", otherwise="Nothing was changed.")
    _write(path, before, (BOM if before.startswith(BOM) else "") + after)
    put(f"{path} is written. {client.after}")


def _read(path: Path) -> str:
    with explained(path):
        try:
            return path.read_bytes().decode()
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError:
            raise FilesystemError(str(path), "is not UTF-8") from None


def _difference(before: str, after: str, name: str) -> str:
    lines = unified_diff(
        before.splitlines(), after.splitlines(), name if before else "(no file)", name, n=1, lineterm=""
    )
    return redact("".join(f"{line}\n" for line in lines))


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
