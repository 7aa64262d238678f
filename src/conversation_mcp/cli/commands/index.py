"""The command `index`: shows or rebuilds the index."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conversation_mcp.cli.options import AsJson, LogsDir, Owner
from conversation_mcp.cli.output.progress import progress
from conversation_mcp.cli.output.terminal import put, put_json
from conversation_mcp.cli.output.times import when
from conversation_mcp.cli.setup import finder_from, settings_from
from conversation_mcp.clock import utc_now
from conversation_mcp.errors import ConversationMCPError, FilesystemError
from conversation_mcp.stores.headway import Headway
from conversation_mcp.text import counted

if TYPE_CHECKING:
    from conversation_mcp.stores.finder import Index

REBUILDING = "reading the conversations"


class NoIndexError(ConversationMCPError):
    """There can be no index, for a reason outside the conversations."""

    code = FilesystemError.code
    advice = "Searches read every file instead. Check the folder, its permissions and the free space."

    def __init__(self, obstacle: str, *, is_needed: bool = True) -> None:
        super().__init__(f"no index can be kept: {obstacle}.")
        self.advice = self.advice if is_needed else "Searches ask the store itself."


def index(
    *,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Delete it and read all conversations again.")] = False,
    meaning: Annotated[
        bool,
        typer.Option("--meaning", help="Make the vectors for searches by meaning now, instead of in the background."),
    ] = False,
    background: Annotated[bool, typer.Option("--background", hidden=True)] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Show where the index is and what it knows.

    Searches use the index. It is built from the files of the conversations whenever it is missing, so you can delete it
    at any time.
    """
    if meaning:
        from conversation_mcp.cli.vectors import make_vectors

        make_vectors(logs_dir, owner, in_background=background)
        if background:
            return
    finder = finder_from(logs_dir, owner)
    found = finder.index
    if found is None:
        if _says_how_many_vectors(logs_dir, owner) or meaning:
            return
        raise NoIndexError(f"{finder.place} needs none", is_needed=False)
    if rebuild:
        _rebuild(found)
    facts = _facts(found)
    if as_json:
        put_json(facts)
    else:
        put("\n".join(f"{name:<10}{text}" for name, text in _lines(facts)))


def _says_how_many_vectors(logs_dir: Path | None, owner: str | None) -> bool:
    from conversation_mcp.cli.checks.vectors import check_vectors

    found = [*check_vectors(settings_from({"logs_dir": logs_dir, "owner": owner}).settings)]
    for finding in found:
        put(finding.text)
    return bool(found)


def _rebuild(index: "Index") -> None:
    if obstacle := index.obstacle():
        raise NoIndexError(obstacle)
    headway = Headway()
    with progress(REBUILDING, headway, after_seconds=0):  # it was asked for, so the bar shows that it happens
        index.rebuild(headway)


def _facts(index: "Index") -> dict[str, Any]:
    """Return the facts of the index, without creating it if it is missing; one in memory is built here."""
    facts: dict[str, Any] = {"location": index.location, "bytes": 0}
    if not index.is_kept:
        if index.build_seconds is None:
            _rebuild(index)
        facts["buildSeconds"] = round(index.build_seconds or 0.0, 3)
    try:
        if (size := index.size_bytes()) is None:
            return facts
        facts["bytes"] = size
    except OSError as error:
        return {**facts, "problem": error.strerror}
    if obstacle := index.obstacle():
        return {**facts, "problem": obstacle}
    standing = index.standing()
    facts["conversationCount"] = standing.conversation_count
    if standing.compared_at is not None:
        facts["comparedAt"] = standing.compared_at.isoformat(timespec="seconds").replace("+00:00", "Z")
    return facts


def _lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [("where", facts["location"])]
    if "problem" in facts:
        return [*lines, ("problem", facts["problem"])]
    if not facts["bytes"]:
        return [*lines, ("holds", "nothing yet; the first search makes it")]
    lines.append(("size", f"{facts['bytes'] / 1_000_000:,.1f} MB"))
    if "comparedAt" not in facts:
        return [*lines, ("holds", "not all conversations yet; the next search continues")]
    count, compared = facts["conversationCount"], datetime.fromisoformat(facts["comparedAt"])
    lines.append(("holds", counted(count, "conversation")))
    if "buildSeconds" in facts:
        return [*lines, ("built in", f"{facts['buildSeconds']:.1f} s, anew by each process at its first search")]
    return [*lines, ("compared", when(compared, utc_now().astimezone()))]
