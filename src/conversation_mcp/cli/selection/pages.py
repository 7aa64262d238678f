"""Pages of conversations as commands show them: with a bar while those that others have written are looked at."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from conversation_mcp.cli.output.progress import progress
from conversation_mcp.records.found import Page, Place, Wanted
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    from conversation_mcp.stores.finder import Finder

COMPARING = "looking at the files"


def found_pages(
    finder: "Finder", wanted: Wanted, limit: int | None = None, place: Place | None = None
) -> Iterator[Page]:
    """Yield pages until there are as many conversations as the limit, or all; the first one says what was skipped.

    Raises:
        FilesystemError: the place cannot be read, or there is no full-text search.
    """
    from conversation_mcp.stores.finder import pages

    headway = Headway()
    return shown(pages(finder, wanted, limit, place, headway), headway)


def shown(pages: Iterator[Page], headway: Headway) -> Iterator[Page]:
    """Yield the pages, with a bar as long as the first one takes."""
    with progress(COMPARING, headway):
        first = next(pages)
    yield first
    yield from pages
