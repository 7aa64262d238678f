"""The newest and largest conversations of a folder, found without an index, which is quick while they are few."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from conversation_mcp.records.found import SHOWN_PROBLEMS, Listed, Page, Place, with_state
from conversation_mcp.stores.files.scan import File, facts_in, find, is_being_answered, read_each
from conversation_mcp.stores.files.vault import Vault

CLOCK_SLACK_MILLISECONDS = 2000
"""How much earlier the file system's time of a write may be than `updatedAt`: FAT counts in steps of two seconds."""

Placed = tuple[int, str, Listed]
"""The time of the last change, the id to order those of the same moment, and the conversation."""


def newest(root: Path, vault: Vault, limit: int | None = None, begins: str = "", *, archived: bool = False) -> Page:
    """Return the newest conversations whose ids begin with `begins`, reading no more files than necessary.

    They are either all archived or all not.

    Raises:
        FilesystemError: the folder cannot be read.
    """
    files = [file for file in find(root) if file.conversation_id.startswith(begins)]
    files.sort(key=lambda file: (file.written, file.conversation_id), reverse=True)
    problems: list[str] = []
    kept: list[Placed] = []
    count = None if limit is None else limit + 1
    for _, facts in read_each(_until_older(files, kept, count), facts_in, problems, vault):
        if facts.archived == archived:
            kept.append((facts.updated_milliseconds, facts.conversation_id, facts))
    kept.sort(key=lambda entry: entry[:2], reverse=True)
    shown = kept[:limit]
    following = Place(*shown[-1][:2]) if shown and len(kept) > len(shown) else None
    return _page(root, [facts for *_, facts in shown], following, problems)


def largest(root: Path, vault: Vault, limit: int | None = None) -> Page:
    """Return the conversations with the largest files, without archived ones, reading no more files than necessary.

    Raises:
        FilesystemError: the folder cannot be read.
    """
    files = sorted(find(root), key=lambda file: (file.size_bytes, file.conversation_id), reverse=True)
    problems: list[str] = []
    facts = (facts for _, facts in read_each(files, facts_in, problems, vault) if not facts.archived)
    return _page(root, list(islice(facts, limit)), None, problems)


def _page(root: Path, shown: Iterable[Listed], following: Place | None, problems: Sequence[str]) -> Page:
    is_answered_now = partial(is_being_answered, root)
    return Page(
        found=tuple(with_state(facts, is_answered_now) for facts in shown),
        next=following,
        unreadable_count=len(problems),
        problems=tuple(problems[:SHOWN_PROBLEMS]),
    )


def _until_older(files: Iterable[File], kept: list[Placed], count: int | None) -> Iterator[File]:
    """Yield the files, latest write first, until none of the rest can be newer than those that were kept."""
    for file in files:
        if count is not None and len(kept) >= count:
            kept.sort(key=lambda entry: entry[:2], reverse=True)
            del kept[count:]
            # A file is written when its conversation is updated: an older file cannot hold a later update.
            if file.written * 1000 + CLOCK_SLACK_MILLISECONDS < kept[-1][0]:
                return
        yield file
