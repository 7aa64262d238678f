"""Filters of conversations, made from the texts that a user or client gives."""

from collections.abc import Iterable

from conversation_mcp.records.facts import facet, milliseconds_of
from conversation_mcp.records.found import RELATED, State, Wanted


def wanted_of(
    query: str = "",
    *,
    state: State | None = None,
    after: str | None = None,
    before: str | None = None,
    tags: Iterable[str] = (),
    **kinds: str | None,
) -> Wanted:
    """Return the filter; `kinds` are tool, provider and model. Raises ValueError for a time that cannot be read."""
    given = [*kinds.items(), *(("tag", tag) for tag in tags)]
    return Wanted(
        query=query,
        facets=tuple(facet(kind, value) for kind, value in given if value is not None),
        state=state,
        after_milliseconds=None if after is None else milliseconds_of(after),
        before_milliseconds=None if before is None else milliseconds_of(before),
    )


def branches_of(conversation_id: str) -> Wanted:
    """Return the filter of the conversations that came from this one."""
    return Wanted(facets=(facet("parent", conversation_id),))


def naming(conversation_id: str) -> Wanted:
    """Return the filter of the conversations in which this one is named as related."""
    return Wanted(facets=(facet(RELATED, conversation_id),))
