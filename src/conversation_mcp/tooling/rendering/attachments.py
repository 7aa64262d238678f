"""What became of the files and images of a question, as text."""

from collections import Counter
from collections.abc import Iterable, Sequence

from conversation_mcp.records.attached import AttachedFile, AttachedImage
from conversation_mcp.text import counted, one_line

SHOWN_FILES = 12
SHOWN_REASONS = 4

Attached = AttachedFile | AttachedImage


def render_attachments(files: Sequence[AttachedFile], images: Sequence[AttachedImage]) -> str:
    """Return a line for each of the first files and images, and the counts of the others; empty without any."""
    every: Sequence[Attached] = (*files, *images)
    lines = [f"- {_name(each)}: {_fate(each)}" for each in every[:SHOWN_FILES]]
    if rest := every[SHOWN_FILES:]:
        lines.append(f"- {len(rest):,} more: {_counts(rest)}")
    return "\n".join(("Files" if files else "Images", *lines)) if lines else ""


def sent_summary(files: Sequence[AttachedFile], images: Sequence[AttachedImage]) -> str:
    """Return the counts on one line, as `2 files sent, 1 unchanged, 1 skipped (binary)`; empty without any."""
    return "; ".join(filter(None, (_counts(files, "file"), _counts(images, "image"))))


def _counts(attached: Iterable[Attached], noun: str = "") -> str:
    kinds = Counter[str]()
    reasons = Counter[str]()
    for each in attached:
        kinds[_kind(each)] += 1
        if each.sent == "skipped" and each.reason:
            reasons[one_line(each.reason)] += 1
    parts: list[str] = []
    for kind in ("sent", "changed", "unchanged", "skipped"):
        if number := kinds[kind]:
            amount = counted(number, noun) if noun and not parts else f"{number:,}"
            parts.append(f"{amount} {kind}{_why(reasons) if kind == 'skipped' else ''}")
    return ", ".join(parts)


def _why(reasons: Counter[str]) -> str:
    """Return the reasons in brackets, the most frequent first, with counts if they are several."""
    if not reasons:
        return ""
    if len(reasons) == 1:
        return f" ({next(iter(reasons))})"
    shown = [f"{number:,} {reason}" for reason, number in reasons.most_common(SHOWN_REASONS)]
    return f" ({', '.join((*shown, *(['…'] if len(reasons) > SHOWN_REASONS else [])))})"


def _kind(each: Attached) -> str:
    if each.sent in ("whole", "diff"):
        return "changed" if _earlier(each) or each.sent == "diff" else "sent"
    return "unchanged" if each.sent == "known" else "skipped"


def _fate(each: Attached) -> str:
    """Return what became of a file in words."""
    if each.sent == "skipped":
        return f"skipped: {one_line(each.reason)}" if each.reason else "skipped"
    if each.sent == "known":
        return "unchanged"
    if earlier := _earlier(each):
        return f"changed since message {earlier}{', sent as a diff' if each.sent == 'diff' else ''}"
    if isinstance(each, AttachedFile) and each.as_pdf:
        return f"sent as PDF, {counted(each.pages or 0, 'page')}"
    return "sent as a diff" if each.sent == "diff" else "sent"


def _earlier(each: Attached) -> int | None:
    return each.changed_since if isinstance(each, AttachedFile) else None


def _name(each: Attached) -> str:
    """Return the path on one line: names of files may hold anything."""
    lines = each.lines if isinstance(each, AttachedFile) else None
    return one_line(each.path) + (f":{lines}" if lines else "")
