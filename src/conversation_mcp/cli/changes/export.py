"""What `export` does: which conversations, and where their texts go."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_mcp.cli.output.terminal import is_terminal, put, say
from conversation_mcp.cli.selection.ids import resolve
from conversation_mcp.cli.selection.lists import told
from conversation_mcp.cli.selection.pages import found_pages
from conversation_mcp.cli.setup import finder_from
from conversation_mcp.cli.usage import FAILED, WrongUsageError
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import make_private_folder
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.exporting.catalog import FormatName, export_format
from conversation_mcp.exporting.redaction import redacted
from conversation_mcp.exporting.writer import pieces, write_each, write_file
from conversation_mcp.records.codec import decode
from conversation_mcp.records.found import Wanted
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.stores.finder import Finder
from conversation_mcp.text import counted

if TYPE_CHECKING:
    from conversation_mcp.exporting.base import ExportFormat

STDOUT = "-"
SEPARATORS = tuple(filter(None, (os.sep, os.altsep)))


@dataclass(frozen=True)
class Wish:
    """What is to be exported, and how."""

    ids: tuple[str, ...]
    query: str | None
    everything: bool
    file_format: FormatName
    output: str | None
    redact: bool


class Reading:
    """Reads the conversations one at a time; what cannot be read is said and counted."""

    def __init__(self, finder: Finder, *, redact: bool) -> None:
        self._finder = finder
        self._redact = redact
        self.read_count = self.failed_count = 0

    def each(self, ids: Iterable[ConversationId]) -> Iterator[Conversation]:
        """Yield those that can be read."""
        for conversation_id in ids:
            try:
                body = self._finder.read(conversation_id)
                conversation = decode(body, self._finder.location(conversation_id), conversation_id)
            except ConversationMCPError as error:
                say(error.sentence())
                self.failed_count += 1
            else:
                self.read_count += 1
                yield redacted(conversation) if self._redact else conversation


def export_conversations(wish: Wish, logs_dir: Path | None) -> int:
    """Export and return the exit code.

    Raises:
        WrongUsageError: it is not clear what is meant, or the place cannot hold it.
        FilesystemError: a file cannot be written.
    """
    if sum((bool(wish.ids), wish.query is not None, wish.everything)) != 1:
        raise WrongUsageError("say which conversations: ids, or --query WORDS, or --all.")
    finder = finder_from(logs_dir)
    ids = _chosen(finder, wish)
    chosen = export_format(wish.file_format)
    if not ids:
        say("No conversation was found.")
        return FAILED
    is_one = len(wish.ids) == 1 or (len(ids) == 1 and chosen.frame is None)
    has_pages = not wish.ids and chosen.frame is None
    target = _target(wish, finder.folder, fits_one_file=is_one or chosen.frame is not None, several=has_pages)
    reading = Reading(finder, redact=wish.redact)
    _write(target, reading.each(ids), chosen, is_one=is_one)
    if target is not None:
        say(f"Exported {counted(reading.read_count, 'conversation')} to {target}.")
    return FAILED if reading.failed_count else 0


def _write(target: Path | None, found: Iterator[Conversation], chosen: "ExportFormat", *, is_one: bool) -> None:
    if target is None:
        for text in pieces(found, chosen, framed=not is_one):
            _put(text)
    elif target.is_dir():
        write_each(target, found, chosen)
    elif (first := next(found, None)) is not None:  # a file that was there is not replaced by nothing
        with explained(target):
            make_private_folder(target.absolute().parent)
        write_file(target, pieces(_with(first, found), chosen, framed=not is_one))


def _with(first: Conversation, rest: Iterator[Conversation]) -> Iterator[Conversation]:
    yield first
    yield from rest


def _chosen(finder: Finder, wish: Wish) -> Sequence[ConversationId]:
    if wish.ids:
        return list(dict.fromkeys(resolve(finder, text) for text in wish.ids))
    if wish.query is None:
        return finder.ids()
    found = told(found_pages(finder, Wanted(query=wish.query)))
    return [ConversationId(each.conversation_id) for page in found for each in page.found]


def _target(wish: Wish, folder: Path | None, *, fits_one_file: bool, several: bool) -> Path | None:
    """Return the file or the existing folder to write to; None for stdout.

    Where `several` pages could have been found, a name without an end is that of their folder, however many there are.
    """
    if wish.output in {None, STDOUT}:
        if not fits_one_file:
            raise WrongUsageError(f"several conversations as {wish.file_format} need a folder: --output FOLDER.")
        return None
    assert wish.output is not None  # noqa: S101 -- narrows the type
    target = Path(wish.output).expanduser()
    if folder is not None and target.resolve().is_relative_to(folder.resolve()):
        raise WrongUsageError(f"--output must lie outside of the folder of the conversations, {folder}.")
    is_folder = wish.output.endswith(SEPARATORS) or (several and not target.suffix)
    if is_folder or not fits_one_file:
        if target.exists() and not target.is_dir():
            raise WrongUsageError(f"several conversations as {wish.file_format} need a folder; {target} is a file.")
        with explained(target):
            make_private_folder(target.absolute())
    elif target.exists() and not target.is_dir() and not target.is_file():
        raise WrongUsageError(f"{target} is neither a file nor a folder; - writes to stdout.")
    return target


def _put(text: str) -> None:
    if is_terminal():
        put(text, end="")
        return
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.flush()
