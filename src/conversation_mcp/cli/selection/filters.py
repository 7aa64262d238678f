"""The filters of `list` and `search`, from the options as typed."""

from collections.abc import Iterable

from conversation_mcp.cli.selection.moments import milliseconds_at
from conversation_mcp.conversations.filters import wanted_of
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.found import Place, State, Wanted


def chosen(
    query: str = "",
    *,
    state: State | None,
    archived: bool,
    after: str | None,
    before: str | None,
    tags: Iterable[str],
    **kinds: str | None,
) -> Wanted:
    """Return the filter that the options describe.

    Raises:
        InvalidInputError: a time is not valid, or two states are given.
    """
    if archived and state not in (None, "archived"):
        raise InvalidInputError(f"--archived and --state {state} cannot be combined.")
    return wanted_of(query, state="archived" if archived else state, tags=tags, **kinds)._replace(
        after_milliseconds=None if after is None else milliseconds_at("--after", after),
        before_milliseconds=None if before is None else milliseconds_at("--before", before),
    )


def place_of(cursor: str | None, query: str) -> Place | None:
    """Return the place that the cursor names; None without a cursor.

    Raises:
        InvalidInputError: the cursor is not valid, or belongs to another query.
    """
    from conversation_mcp.conversations.cursors import read_cursor

    try:
        return read_cursor(cursor, query) if cursor else None
    except InvalidInputError as error:
        raise InvalidInputError(error.message_with({"cursor": "--cursor"})) from None
