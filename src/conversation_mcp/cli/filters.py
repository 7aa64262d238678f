"""The filters of `list` and `search`, as they were typed."""

from collections.abc import Iterable

from conversation_mcp.cli.entry import WrongUsageError
from conversation_mcp.conversations.describing import milliseconds_of
from conversation_mcp.conversations.filters import wanted_of
from conversation_mcp.stores.index.base import State, Wanted


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
    """Return which conversations are meant.

    Raises:
        WrongUsageError: a time is none, or the state is two.
    """
    if archived and state not in (None, "archived"):
        raise WrongUsageError(f"--archived and --state {state} cannot be combined.")
    for name, time in (("--after", after), ("--before", before)):
        if time is not None:
            moment_of(name, time)
    return wanted_of(query, state="archived" if archived else state, after=after, before=before, tags=tags, **kinds)


def moment_of(option: str, time: str) -> int:
    """Return the time that an option was given, in milliseconds since 1970.

    Raises:
        WrongUsageError: it is no time.
    """
    try:
        return milliseconds_of(time)
    except ValueError:
        raise WrongUsageError(
            f"{option} must be a date or time such as 2026-01-31 or 2026-01-31T12:00:00Z; got {time!r}."
        ) from None
