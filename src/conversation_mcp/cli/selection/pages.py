"""Pages of conversations, with a progress bar while the finder reads files that other programs have changed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from conversation_mcp.cli.output.progress import progress
from conversation_mcp.records.found import Page, Place, Wanted
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.near import Neighbourhood
    from conversation_mcp.stores.finder import Finder

COMPARING = "checking the files"


def found_pages(
    finder: "Finder",
    wanted: Wanted,
    limit: int | None = None,
    place: Place | None = None,
    around: "Neighbourhood | None" = None,
) -> Iterator[Page]:
    """Yield pages up to the limit, or all; the first page says what was skipped.

    Raises:
        FilesystemError: the place cannot be read, or full-text search is not available.
    """
    from conversation_mcp.stores.finder import pages

    headway = Headway()
    return shown(pages(finder, wanted, limit, place, headway, around), headway)


def shown(pages: Iterator[Page], headway: Headway) -> Iterator[Page]:
    """Yield the pages, with a progress bar until the first one."""
    with progress(COMPARING, headway):  # only the first page brings the index up to date
        first = next(pages)
    yield first
    yield from pages
