"""The command `files`: lists the files and images of a conversation, and writes them out."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson, Id, LogsDir, Owner
from conversation_mcp.cli.output.terminal import is_terminal, put, put_fields, put_json, say
from conversation_mcp.cli.selection.ids import resolve
from conversation_mcp.cli.setup import finder_from
from conversation_mcp.conversations.attached import AttachedAt, attached_in, attached_line
from conversation_mcp.errors import ConversationMCPError, InvalidInputError
from conversation_mcp.exporting.restoring import Key, key_of, places_for, write_restored
from conversation_mcp.records.attached import AttachedFile, AttachedImage
from conversation_mcp.records.codec import decode
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.finder import Finder
from conversation_mcp.text import counted
from conversation_mcp.tooling.steps import COMMANDS

SHOWN_HASH_CHARS = 12
MISSING = "its content is missing or damaged"


def files(
    *,
    conversation_id: Id,
    restore: Annotated[
        Path | None, typer.Option("--restore", metavar="FOLDER", help="Write what is kept of them below this folder.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="With --restore: replace files that are there.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Show the files that a conversation was asked about.

    They are listed by message, images too, with path, size and how they were sent. In a pipe, each is a line of message
    number, path, lines, bytes, start of the hash, how it was sent, and why not, separated by tabs. What is kept is what
    they held then; --restore writes it below a folder, at the paths that they had, and versions of a file side by side.
    """
    if force and restore is None:
        raise InvalidInputError("--force goes with --restore.")
    finder = finder_from(logs_dir, owner)
    chosen = resolve(finder, conversation_id)
    if restore is not None and finder.folder is not None and _is_in(restore, finder.folder):
        raise InvalidInputError(f"--restore must lie outside of the folder of the conversations, {finder.folder}.")
    attached = attached_in(decode(finder.read(chosen), finder.location(chosen), chosen))
    kept = finder.attachments.sizes(chosen)
    restoring = _Restoring(finder, chosen, restore, replaces=force)
    if restore is not None:
        restoring.run(attached)
    if as_json:
        data = [_data(one, kept, restoring.written) for one in attached]
        put_json({"conversationId": chosen, "files": data, "problems": restoring.problems})
    elif restore is not None:
        for path in restoring.written.values():
            put(str(path))
        say(f"Restored {counted(len(restoring.written), 'file')} to {restore}.")
    elif is_terminal():
        for one in attached:
            put(f"{_number(one):>8}  {attached_line(one.named)}{_remark(one.named, kept)}")
    else:
        put_fields(_fields(one, kept) for one in attached)
    if not attached:
        say("No question of this conversation names a file.")
    raise typer.Exit(FAILED if restoring.problems else 0)


class _Restoring:
    """Writes what is kept; reports what cannot be written, and goes on."""

    def __init__(self, finder: Finder, conversation_id: ConversationId, folder: Path | None, *, replaces: bool) -> None:
        self._finder = finder
        self._id = conversation_id
        self._folder = Path() if folder is None else folder.expanduser()
        self._replaces = replaces
        self.written: dict[Key, Path] = {}
        self.problems: list[str] = []

    def run(self, attached: list[AttachedAt]) -> None:
        """Write each content once."""
        for key, place in places_for(attached).items():
            path, _, name = key
            target = self._folder / place
            try:
                data = self._finder.attachments.get(self._id, [name]).get(name)
                if data is None:
                    self._report(f"{path}: {MISSING}")
                elif write_restored(self._folder, place, data, replaces=self._replaces):
                    self.written[key] = target
                else:
                    self._report(f"{target} is there already; --force replaces it")
            except ConversationMCPError as error:
                self._report(error.sentence(COMMANDS))

    def _report(self, problem: str) -> None:
        self.problems.append(problem)
        say(problem)


def _is_in(path: Path, folder: Path) -> bool:
    return path.expanduser().resolve().is_relative_to(folder.resolve())


def _number(one: AttachedAt) -> str:
    return f"#{one.number}" if one.is_answered else f"after #{one.number}"


def _is_kept(named: AttachedFile | AttachedImage, kept: Mapping[str, int]) -> bool:
    return named.sha256 in kept


def _remark(named: AttachedFile | AttachedImage, kept: Mapping[str, int]) -> str:
    return f" · {MISSING}" if named.sha256 is not None and not _is_kept(named, kept) else ""


def _fields(one: AttachedAt, kept: Mapping[str, int]) -> Iterator[object]:
    named = one.named
    yield one.number
    yield named.path
    yield (named.lines if isinstance(named, AttachedFile) else None) or ""
    yield "" if named.bytes is None else named.bytes
    yield (named.sha256 or "")[:SHOWN_HASH_CHARS]
    yield named.sent
    yield named.reason or _remark(named, kept).removeprefix(" · ")


def _data(one: AttachedAt, kept: Mapping[str, int], written: Mapping[Key, Path]) -> dict[str, Any]:
    path = written.get(key_of(one.named))
    return {
        ("messageNumber" if one.is_answered else "afterMessage"): one.number,
        "kind": "file" if isinstance(one.named, AttachedFile) else "image",
        **one.named.data(),
        "isKept": _is_kept(one.named, kept),
        **({} if path is None else {"restoredTo": str(path)}),
    }
