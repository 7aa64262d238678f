"""The command `search`: finds conversations by their words and their meaning."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import (
    After,
    Archived,
    AsJson,
    Before,
    Cursor,
    Limit,
    LogsDir,
    Model,
    Owner,
    Provider,
    StateOption,
    Tags,
    Tool,
)
from conversation_mcp.cli.output.rows import MARK, put_lines, when_updated
from conversation_mcp.cli.output.terminal import console, is_terminal, printable, say
from conversation_mcp.cli.selection.filters import chosen, place_of
from conversation_mcp.cli.selection.lists import limit_of, put_pages_as_json, say_more, told
from conversation_mcp.cli.selection.pages import found_pages
from conversation_mcp.cli.setup import finder_from
from conversation_mcp.clock import utc_now

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from conversation_mcp.records.found import Listed, Page
    from conversation_mcp.searching.vectors.near import Neighbourhood
    from conversation_mcp.stores.finder import Finder

HIGHLIGHT = "bold yellow"


def search(
    *,
    words: Annotated[
        list[str],
        typer.Argument(metavar="WORDS", help="'\"a phrase\"' in quotes of its own must occur; begin* is a beginning."),
    ],
    by_words: Annotated[bool, typer.Option("--words", help="Find by words alone, not by meaning.")] = False,
    limit: Limit = None,
    cursor: Cursor = None,
    tool: Tool = None,
    provider: Provider = None,
    model: Model = None,
    tag: Tags = None,
    state: StateOption = None,
    archived: Archived = False,
    after: After = None,
    before: Before = None,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Find conversations by words, and by meaning where there is a model for it.

    Searches titles, tags, questions and answers. The best match comes first; each is shown with the matching passage
    and the number of its message. Without a match, the exit code is 1. In a pipe, each match is a line as list prints
    it, followed by the number and the passage.
    """
    finder, query = finder_from(logs_dir, owner), " ".join(words)
    wanted = chosen(
        query,
        state=state,
        archived=archived,
        after=after,
        before=before,
        tags=tag or (),
        tool=tool,
        provider=provider,
        model=model,
    )
    place = place_of(cursor, query)
    around = None if by_words else _around(finder, query, logs_dir, owner)
    counted = _Counted(found_pages(finder, wanted, limit_of(limit, as_json=as_json), place, around))
    if as_json:
        put_pages_as_json(counted, finder, query)
    elif is_terminal():
        _show(counted)
    else:
        for page in told(counted):
            put_lines(page.found)
    if not counted.count:
        say("Nothing was found.")
        raise typer.Exit(FAILED)


def _around(finder: "Finder", query: str, logs_dir: Path | None, owner: str | None) -> "Neighbourhood | None":
    """Return the turns near the query; nothing is loaded unless somebody has made vectors."""
    if (turns := finder.turns) is None or not turns.vectors.models():
        return None
    from conversation_mcp.cli.setup import settings_from
    from conversation_mcp.conversations.turn_meaning import open_meaning, turns_near
    from conversation_mcp.providers.embedders import embedders_in

    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    around, notice = turns_near(open_meaning(lambda: embedders_in(settings), turns), query)
    if notice:
        say(f"{notice}.")
    return around


class _Counted:
    """Pages that count their conversations as they pass."""

    def __init__(self, pages: "Iterable[Page]") -> None:
        self.count = 0
        self._pages = pages

    def __iter__(self) -> "Iterator[Page]":
        for page in self._pages:
            self.count += len(page.found)
            yield page


def _show(pages: "Iterable[Page]") -> None:
    screen, moment = console(), utc_now().astimezone()
    last: Page | None = None
    for last in told(pages):
        for found in last.found:
            place = f"message {found.message_number} · " if found.message_number else ""
            where = f"{when_updated(found, moment)} · {place}{found.conversation_id}"
            _show_one(screen, found, where)
    if last is not None:
        say_more(last)


def _show_one(screen: "Console", found: "Listed", where: str) -> None:
    from rich.padding import Padding
    from rich.text import Text

    screen.print(Text.assemble((printable(found.title), "bold"), (f"  {where}", "dim")))
    if found.snippet:
        screen.print(Padding(_highlighted(found.snippet), (0, 0, 0, 2)))


def _highlighted(snippet: str) -> "Text":
    from rich.text import Text

    parts = printable(snippet).split(MARK)  # every second part was between two marks
    return Text.assemble(*((part, HIGHLIGHT if number % 2 else "") for number, part in enumerate(parts)))
