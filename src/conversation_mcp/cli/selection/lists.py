"""The output of `list`: a table, lines, or JSON."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_mcp.cli.output.rows import put_lines, row_data, table_of
from conversation_mcp.cli.output.terminal import console, is_terminal, put, put_json_list, say
from conversation_mcp.cli.selection.pages import found_pages, shown
from conversation_mcp.cli.setup import finder_from
from conversation_mcp.clock import utc_now
from conversation_mcp.conversations.phrases import notices_of
from conversation_mcp.records.found import Page, Wanted
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    from conversation_mcp.stores.finder import Finder

SHOWN_ON_TERMINAL = 20


def show_list(
    limit: int | None = None,
    logs_dir: Path | None = None,
    *,
    as_json: bool = False,
    paths: bool = False,
    wanted: Wanted | None = None,
    cursor: str | None = None,
    by_size: bool = False,
    owner: str | None = None,
) -> None:
    """Print the conversations, newest first or by the size of their files."""
    finder = finder_from(logs_dir, owner)
    count = limit_of(limit, as_json=as_json)
    if by_size:
        found = iter((finder.largest(count),))
    elif wanted is None and cursor is None:
        headway = Headway()
        found = shown(finder.every_newest(count, headway), headway)
    else:
        found = _chosen(finder, wanted, count, cursor)
    if as_json:
        put_pages_as_json(found, finder, "")
    elif paths:
        for page in told(found):
            if page.found:
                put("\n".join(finder.location(found.conversation_id) for found in page.found))
    elif is_terminal():
        _show(found, finder, is_plain=wanted is None and cursor is None, by_size=by_size)
    else:
        for page in told(found):
            put_lines(page.found)


def limit_of(limit: int | None, *, as_json: bool) -> int | None:
    """Return how many to show: the limit that was given, or else a short list on a terminal and all for a program."""
    if limit is None:
        return SHOWN_ON_TERMINAL if is_terminal() and not as_json else None
    return limit or None  # 0 means all


def told(pages: Iterable[Page]) -> Iterator[Page]:
    """Yield the pages, and print the notices of the first one, which hold for all of them."""
    for number, page in enumerate(pages):
        if number == 0:
            say_notices(page)
        yield page


def say_notices(page: Page) -> None:
    """Print the notices of a page on stderr."""
    for notice in notices_of(page):
        say(f"Notice: {notice}.")


def put_pages_as_json(pages: Iterable[Page], finder: "Finder", query: str) -> None:
    """Print one JSON document, a page at a time."""
    from conversation_mcp.conversations.cursors import write_cursor

    ends: list[Page] = []

    def rows() -> Iterator[Iterable[object]]:
        for page in told(pages):
            ends[1:] = [page]  # the first page has the notices, the last one the cursor
            yield [row_data(found, finder.location(found.conversation_id)) for found in page.found]

    def rest() -> dict[str, Any]:
        notices = list(notices_of(ends[0]))
        data: dict[str, Any] = {"unreadableCount": ends[0].unreadable_count}
        if following := ends[-1].next:
            data["nextCursor"] = write_cursor(following, query)
        return {**data, "notices": notices} if notices else data

    put_json_list("conversations", rows(), rest)


def say_more(page: Page) -> None:
    """Say how to see the rest if the page is not the last."""
    if page.next is not None:
        say("There are more; --limit 0 shows all.")


def _chosen(finder: "Finder", wanted: Wanted | None, limit: int | None, cursor: str | None) -> Iterator[Page]:
    from conversation_mcp.cli.selection.filters import place_of

    return found_pages(finder, wanted or Wanted(), limit, place_of(cursor, ""))


def _show(pages: Iterable[Page], finder: "Finder", *, is_plain: bool, by_size: bool) -> None:
    screen, moment = console(), utc_now().astimezone()
    last: Page | None = None
    last_id: str | None = None
    is_empty = True
    for last in told(pages):
        if last.found:
            if is_empty and is_plain and not by_size:
                last_id = last.found[0].conversation_id
            table = table_of(last.found, screen.width, moment, has_header=is_empty, last_id=last_id, has_sizes=by_size)
            screen.print(table)
            is_empty = False
    if is_empty and is_plain:
        say(f'There are no conversations in {finder.place}. Start one with: conversation-mcp ask "…"')
    elif is_empty:
        say("There are no such conversations.")
    if last is not None:
        say_more(last)
