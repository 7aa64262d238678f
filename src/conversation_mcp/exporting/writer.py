"""Writing of exports: several conversations in one file if the format has a frame, else one file each."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import refuse_link, replace_by_pieces
from conversation_mcp.exporting.base import Contents, ExportFormat
from conversation_mcp.exporting.file_names import file_name
from conversation_mcp.records.models import Conversation

Exportable = tuple[Conversation, Contents]


def pieces(conversations: Iterable[Exportable], chosen: ExportFormat, *, framed: bool) -> Iterator[str]:
    """Yield the text of one file; without a frame, the bare text of the conversations."""
    frame = chosen.frame
    if not framed or frame is None:
        yield from (chosen.render(*each) for each in conversations)
        return
    yield frame.before
    between = ""
    for each in conversations:
        yield between + chosen.render(*each)
        between = frame.between
    yield frame.after


def write_file(path: Path, texts: Iterable[str]) -> None:
    """Write the file in one step, readable only by its owner. No link is followed and no folder is created.

    Raises:
        FilesystemError: it cannot be written; a previous file is intact.
    """
    with explained(path):
        refuse_link(path)
        replace_by_pieces(path, (text.encode("utf-8", "replace") for text in texts))


def write_each(folder: Path, conversations: Iterable[Exportable], chosen: ExportFormat) -> None:
    """Write a file for each conversation.

    Raises:
        FilesystemError: one cannot be written; those before it stay.
    """
    for conversation, contents in conversations:
        write_file(folder / file_name(conversation, chosen.suffix), (chosen.render(conversation, contents),))
