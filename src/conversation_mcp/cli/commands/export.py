"""The command `export`: writes conversations to files in other formats."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import LogsDir, Owner
from conversation_mcp.cli.output.terminal import is_terminal, put, say
from conversation_mcp.cli.selection.completion import complete_ids
from conversation_mcp.cli.selection.ids import resolve
from conversation_mcp.cli.selection.lists import told
from conversation_mcp.cli.selection.pages import found_pages
from conversation_mcp.cli.setup import finder_from
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import make_private_folder
from conversation_mcp.errors import ConversationMCPError, InvalidInputError
from conversation_mcp.exporting.base import ExportFormat
from conversation_mcp.exporting.catalog import FormatName, export_format
from conversation_mcp.exporting.redaction import redacted
from conversation_mcp.exporting.writer import Exportable, pieces, write_each, write_file
from conversation_mcp.records.codec import decode
from conversation_mcp.records.found import Wanted
from conversation_mcp.records.models import ConversationId
from conversation_mcp.records.transcript import contents_named_in
from conversation_mcp.stores.finder import Finder
from conversation_mcp.text import counted
from conversation_mcp.tooling.steps import COMMANDS

STDOUT = "-"
SEPARATORS = tuple(filter(None, (os.sep, os.altsep)))


def export(
    *,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Conversations: ids, starts of them, or last.", autocompletion=complete_ids),
    ] = None,
    query: Annotated[
        str | None, typer.Option(metavar="WORDS", help="All conversations that a search for these words finds.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All conversations.")] = False,
    file_format: Annotated[FormatName, typer.Option("--format", help="The format to write.")] = "markdown",
    output: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="A file, a folder for one file each, or - for stdout. Default: -, if one file is enough.",
        ),
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Leave out paths, ids of responses and anything that looks like a key.")
    ] = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Write conversations to files of other formats.

    json is the file itself and what its questions name, or an array of that; jsonl has OpenAI messages, one
    conversation per line. markdown and html are pages; several pages need a folder. The conversations are not changed.
    """
    if sum((bool(ids), query is not None, everything)) != 1:
        raise InvalidInputError("say which conversations: ids, or --query WORDS, or --all.")
    finder = finder_from(logs_dir, owner)
    found = _found(finder, ids or (), query)
    chosen = export_format(file_format)
    if not found:
        say("No conversation was found.")
        raise typer.Exit(FAILED)
    # One id is one document; a query gives an array even of one match, if the format has arrays.
    is_one = (ids is not None and len(ids) == 1) or (len(found) == 1 and chosen.frame is None)
    target = None
    if output is not None and output != STDOUT:
        has_pages = not ids and chosen.frame is None
        fits_one_file = is_one or chosen.frame is not None
        target = _target(output, finder.folder, file_format, fits_one_file=fits_one_file, several=has_pages)
    elif not is_one and chosen.frame is None:
        raise InvalidInputError(f"several conversations as {file_format} need a folder: --output FOLDER.")
    reader = _CountingReader(finder, redact=redact)
    _write(target, reader.each(found), chosen, is_one=is_one)
    if target is not None:
        say(f"Exported {counted(reader.read_count, 'conversation')} to {target}.")
    raise typer.Exit(FAILED if reader.failed_count else 0)


class _CountingReader:
    """Reads the conversations one at a time; reports and counts those that cannot be read."""

    def __init__(self, finder: Finder, *, redact: bool) -> None:
        self._finder = finder
        self._redact = redact
        self.read_count = self.failed_count = 0

    def each(self, ids: Iterable[ConversationId]) -> Iterator[Exportable]:
        """Yield the conversations that can be read, with what their questions name."""
        for conversation_id in ids:
            try:
                body = self._finder.read(conversation_id)
                conversation = decode(body, self._finder.location(conversation_id), conversation_id)
                contents = self._finder.attachments.get(conversation_id, contents_named_in(conversation))
            except ConversationMCPError as error:
                say(error.sentence(COMMANDS))
                self.failed_count += 1
            else:
                self.read_count += 1
                yield redacted(conversation, contents) if self._redact else (conversation, contents)


def _write(target: Path | None, found: Iterator[Exportable], chosen: ExportFormat, *, is_one: bool) -> None:
    if target is None:
        for text in pieces(found, chosen, framed=not is_one):
            _put(text)
    elif target.is_dir():
        write_each(target, found, chosen)
    elif (first := next(found, None)) is not None:  # an existing file is not replaced by an empty export
        with explained(target):
            make_private_folder(target.absolute().parent)
        write_file(target, pieces(_with(first, found), chosen, framed=not is_one))


def _with(first: Exportable, rest: Iterator[Exportable]) -> Iterator[Exportable]:
    yield first
    yield from rest


def _found(finder: Finder, ids: Sequence[str], query: str | None) -> Sequence[ConversationId]:
    if ids:
        return list(dict.fromkeys(resolve(finder, text) for text in ids))
    if query is None:
        return finder.ids()
    found = told(found_pages(finder, Wanted(query=query)))
    return [ConversationId(each.conversation_id) for page in found for each in page.found]


def _target(output: str, folder: Path | None, file_format: FormatName, *, fits_one_file: bool, several: bool) -> Path:
    """Return the file or the existing folder to write to.

    If `several` pages could have been found, a name without a suffix is a folder, even if only one was.
    """
    target = Path(output).expanduser()
    # In there, an export could replace a conversation's file or be taken for one.
    if folder is not None and target.resolve().is_relative_to(folder.resolve()):
        raise InvalidInputError(f"--output must lie outside of the folder of the conversations, {folder}.")
    is_folder = output.endswith(SEPARATORS) or (several and not target.suffix)
    if is_folder or not fits_one_file:
        if target.exists() and not target.is_dir():
            raise InvalidInputError(f"several conversations as {file_format} need a folder; {target} is a file.")
        with explained(target):
            make_private_folder(target.absolute())
    elif target.exists() and not target.is_dir() and not target.is_file():
        raise InvalidInputError(f"{target} is neither a file nor a folder; - writes to stdout.")
    return target


def _put(text: str) -> None:
    if is_terminal():
        put(text, end="")
        return
    # As bytes: the text stream of Windows would change the encoding and the line ends.
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.flush()
