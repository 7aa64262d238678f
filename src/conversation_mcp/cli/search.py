"""`search`: conversations that have all the words."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from conversation_mcp.cli.listing import limit_of, put_lines, say_problems
from conversation_mcp.cli.loading import folder_from
from conversation_mcp.cli.options import AsJson, Limit, LogsDir
from conversation_mcp.cli.terminal import console, is_terminal, printable, put_json, say
from conversation_mcp.cli.times import now, when
from conversation_mcp.conversations.files import seconds_of
from conversation_mcp.conversations.matching import matching

if TYPE_CHECKING:
    from conversation_mcp.conversations.matching import Match


def search(
    *,
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="All must occur; quote a phrase.")],
    limit: Limit = None,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """Look for words in all conversations.

    Titles, questions and answers count, upper and lower case do not. The newest match comes first; without one the
    exit code is 1. In a pipe each match is a line as list prints it.
    """
    matches = matching(folder_from(logs_dir), [word for word in words if word.strip()])
    shown = matches.found[: limit_of(limit, as_json=as_json)]
    say_problems(matches.problems)
    if as_json:
        put_json(
            {
                "conversations": [{**match.summary.data(), "excerpt": match.excerpt} for match in shown],
                "totalCount": len(matches.found),
                "problems": matches.problems,
            }
        )
    elif is_terminal():
        _show(shown)
    else:
        put_lines(match.summary for match in shown)
    if not matches.found:
        say(f"None of {matches.total} conversations has all of it.")
        raise typer.Exit(1)
    if (left := len(matches.found) - len(shown)) > 0:
        say(f"{left} more; --limit 0 shows all.")


def _show(matches: "Sequence[Match]") -> None:
    from rich.padding import Padding  # noqa: PLC0415 -- a pipe needs none of it
    from rich.text import Text  # noqa: PLC0415 -- the same

    screen, moment = console(), now().astimezone()
    for match in matches:
        summary = match.summary
        written = when(datetime.fromtimestamp(seconds_of(summary.updated_at), UTC), moment)
        screen.print(Text.assemble((summary.title, "bold"), (f"  {written} · {summary.conversation_id}", "dim")))
        if match.excerpt != summary.title:
            screen.print(Padding(Text(printable(match.excerpt)), (0, 0, 0, 2)))
