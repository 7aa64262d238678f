"""The arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from conversation_mcp.cli.selection.completion import complete_ids, complete_models

LogsDir = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Where conversations are kept. [env: CONVERSATION_LOGS_DIR]")
]
Owner = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Whose conversations. Default: local, who runs the program."),
]
Documents = Annotated[
    list[Path] | None,
    typer.Option(metavar="PATH", help="A file or folder to search with the local provider; may be repeated."),
]
ToolSets = Annotated[
    str | None, typer.Option(metavar="SETS", help="Tool sets to enable, separated by commas. Default: research.")
]
Id = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="A conversation: its id, the start of it, last, or /words in it.",
        autocompletion=complete_ids,
    ),
]
Ids = Annotated[
    list[str],
    typer.Argument(metavar="ID", help="Conversations: ids, starts of them, or last.", autocompletion=complete_ids),
]
Continue = Annotated[
    str | None,
    typer.Option(
        "--continue",
        "-c",
        metavar="ID",
        help="Follow up in this conversation: its id, the start of it, last, or /words in it.",
        autocompletion=complete_ids,
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="NAME",
        help="A preset (fast to xhigh), a model, provider:model, auto:fast, auto:balanced, auto:deep, or local.",
        autocompletion=complete_models,
    ),
]
ContinueFrom = Annotated[
    str | None,
    typer.Option(
        "--continue-from",
        metavar="ID",
        help="Open a conversation that continues this one, for example a full one: an ID as for -c.",
        autocompletion=complete_ids,
    ),
]
Files = Annotated[
    list[str] | None,
    typer.Option(
        "--file",
        "-f",
        metavar="PATH",
        help="Send a file, lines as in app.py:10-80, a folder, a glob, git:staged, or a pipe with -; may be repeated.",
    ),
]
Images = Annotated[
    list[str] | None,
    typer.Option(
        "--image", metavar="PATH", help="Send an image, or a pipe with -, to a model that sees; may be repeated."
    ),
]
System = Annotated[
    str | None, typer.Option("--system", "-s", metavar="TEXT", help="The system text of a new conversation.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Limit = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", help="How many to show, 0 for all. Default: 20 on a terminal, all in a pipe."),
]
Cursor = Annotated[
    str | None, typer.Option(metavar="CURSOR", help="Continue after a list: the nextCursor of its --json output.")
]
Tool = Annotated[str | None, typer.Option(metavar="NAME", help="Only if a question was asked with this tool.")]
Provider = Annotated[str | None, typer.Option(metavar="NAME", help="Only if this provider was asked.")]
Model = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Only if this model or preset answered.", autocompletion=complete_models),
]
Tags = Annotated[list[str] | None, typer.Option(metavar="TAG", help="Only with this tag; may be repeated.")]
StateOption = Annotated[
    Literal["running", "interrupted", "failed", "archived"] | None,
    typer.Option(help="Only with this state of the last question, or archived."),
]
Archived = Annotated[bool, typer.Option("--archived", help="Only archived ones, which are hidden otherwise.")]
After = Annotated[
    str | None,
    typer.Option(
        "--after",
        "--since",
        metavar="TIME",
        help="Only if changed since then: a day or time in UTC, an age such as 36h or 2d, today or yesterday.",
    ),
]
Before = Annotated[str | None, typer.Option("--before", "--until", metavar="TIME", help="Only if changed before then.")]
