"""The library as commands see it: pages of conversations from the index, which is compared with the folder first."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_mcp.cli.output.progress import progress
from conversation_mcp.clock import utc_now
from conversation_mcp.records.found import Page, Place, Wanted
from conversation_mcp.stores.files.index.base import Watch, compared_page
from conversation_mcp.stores.files.index.build import build_index

if TYPE_CHECKING:
    from conversation_mcp.stores.files.index.base import Index

PAGE = 500
"""So many are held at a time, however many are asked for."""
COMPARING = "looking at the files"


def index_of(folder: Path) -> "Index":
    """Return the index of the folder."""
    return build_index(folder, utc_now)


def pages(index: "Index", wanted: Wanted, limit: int | None = None, place: Place | None = None) -> Iterator[Page]:
    """Yield pages until there are as many conversations as the limit, or all; the first one says what was skipped.

    Raises:
        FilesystemError: the folder cannot be read, or there is no full-text search.
    """
    watch = Watch()
    left = limit
    with progress(COMPARING, watch):
        page = compared_page(index, wanted, _size(left), place, watch)
    while True:
        yield page
        left = None if left is None else left - len(page.found)
        if page.next is None or left == 0:
            return
        page = index.page(wanted, _size(left), page.next)


def _size(left: int | None) -> int:
    return PAGE if left is None else min(PAGE, left)
