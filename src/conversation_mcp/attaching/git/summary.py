"""The summary of a change: where, what, and each file with its lines."""

from collections.abc import Iterable, Mapping, Sequence

from conversation_mcp.attaching.git.listing import FEWER_DIGITS, NOTHING_THERE, UNMERGED, Changed
from conversation_mcp.attaching.names import shown
from conversation_mcp.text import counted

MAX_LISTED = 1_000
MAX_UNTRACKED = 200


def summary_of(
    folder: str,
    title: str,
    facts: Iterable[str],
    changed: Sequence[Changed],
    notes: Mapping[str, str],
    untracked: Sequence[str],
) -> str:
    """Return the summary; `notes` say by path why a file is not sent."""
    added = sum(one.added or 0 for one in changed)
    removed = sum(one.removed or 0 for one in changed)
    lines = [f"The change {shown(title)}, in {shown(folder)}", *map(shown, facts)]
    lines.append(f"{counted(len(changed), 'file')}, +{added:,} -{removed:,}")
    lines += [_line(one, notes.get(one.path)) for one in changed[:MAX_LISTED]]
    lines += [f"and {len(changed) - MAX_LISTED:,} more"] * (len(changed) > MAX_LISTED)
    if untracked:
        lines += ["", "Not tracked, named only:", *map(shown, untracked[:MAX_UNTRACKED])]
        lines += [f"and {len(untracked) - MAX_UNTRACKED:,} more"] * (len(untracked) > MAX_UNTRACKED)
    return "\n".join(lines) + "\n"


def _line(one: Changed, note: str | None) -> str:
    name = " -> ".join(map(shown, one.paths))
    facts: list[str] = []
    if one.status == UNMERGED:
        facts.append("in conflict")
    if one.is_submodule:
        facts.append(f"a submodule, {_at(one.old_hash, one.old_mode)} to {_at(one.new_hash, one.new_mode)}")
    elif one.is_binary:
        facts.append("binary")
    elif one.added is not None:
        facts.append(f"+{one.added} -{one.removed}")
    if NOTHING_THERE not in (one.old_mode, one.new_mode) and one.old_mode != one.new_mode:
        facts.append(f"mode {one.old_mode} to {one.new_mode}")
    if note:
        facts.append("not sent" if one.is_binary else f"not sent: {note}")
    return f"{one.status} {name}  {', '.join(facts)}".rstrip()


def _at(commit: str, mode: str) -> str:
    if mode == NOTHING_THERE:
        return "nothing"
    return commit[:FEWER_DIGITS] if commit.strip("0") else "what is checked out"
