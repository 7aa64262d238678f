"""The arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from conversation_mcp.cli.completion import complete_ids

LogsDir = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Where conversations are kept. [env: CONVERSATION_LOGS_DIR]")
]
Documents = Annotated[
    list[Path] | None,
    typer.Option(metavar="PATH", help="A file or folder the local provider answers from; may be repeated."),
]
ToolSets = Annotated[
    str | None, typer.Option(metavar="SETS", help="Tool sets to switch on, separated by commas. Default: research.")
]
Id = Annotated[
    str,
    typer.Argument(metavar="ID", help="A conversation: its id, the start of it, or last.", autocompletion=complete_ids),
]
Ids = Annotated[
    list[str],
    typer.Argument(metavar="ID", help="Conversations: ids, starts of them, or last.", autocompletion=complete_ids),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Limit = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", help="How many to show, 0 for all. Default: 20 on a terminal, all in a pipe."),
]
