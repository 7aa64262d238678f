"""`export`: conversations as Markdown, HTML, JSON or JSON Lines."""

from typing import Annotated

import typer

from conversation_mcp.cli.options import LogsDir
from conversation_mcp.cli.selection.completion import complete_ids
from conversation_mcp.exporting.catalog import FormatName


def export(
    *,
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID", help="Conversations: ids, their beginnings, or last.", autocompletion=complete_ids
        ),
    ] = None,
    query: Annotated[
        str | None, typer.Option(metavar="WORDS", help="All conversations that have these words, as search finds them.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All conversations.")] = False,
    file_format: Annotated[FormatName, typer.Option("--format", help="What to write.")] = "markdown",
    output: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="A file, a folder for a file each, or - for stdout. Default: - for what is one file."
        ),
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Leave out paths, ids of responses and what looks like a key.")
    ] = False,
    logs_dir: LogsDir = None,
) -> None:
    """Write conversations to files of other formats.

    json is the file itself, or an array of them; jsonl has OpenAI messages, a conversation a line. markdown and html
    are pages: several need a folder. Nothing is changed in the conversations.
    """
    from conversation_mcp.cli.changes.export import Wish, export_conversations

    wish = Wish(tuple(ids or ()), query, everything=everything, file_format=file_format, output=output, redact=redact)
    raise typer.Exit(export_conversations(wish, logs_dir))
