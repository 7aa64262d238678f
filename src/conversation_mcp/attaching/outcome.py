"""The files of one question while they are collected, within the limits."""

from collections import Counter

from conversation_mcp.attaching.contents import FileContent, FilesRead, ImageContent, LeftOut
from conversation_mcp.attaching.limits import ReadLimits, RefusedError
from conversation_mcp.attaching.names import shown
from conversation_mcp.attaching.places import OUTSIDE, ROOTS, Places
from conversation_mcp.documents.skips import BY_CONVENTION
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.text import listed

SHOWN = 20
LISTED = 12
SECRET = "a secret by its "  # noqa: S105 -- words, not a secret


class Outcome:
    """What was read and what is left out, in the order of the names."""

    def __init__(self, limits: ReadLimits) -> None:
        self._limits = limits
        self._files: dict[tuple[str, str | None], FileContent] = {}
        self._images: dict[str, ImageContent] = {}
        self._named: list[LeftOut] = []
        self._found: list[LeftOut] = []
        self._expected: list[LeftOut] = []
        self._counts: Counter[str] = Counter()
        self._bytes = 0

    def check_room(self) -> None:
        """Refuse a file after the last one that is read.

        Raises:
            RefusedError: there are as many as are allowed.
        """
        if len(self._files) + len(self._images) >= self._limits.files:
            raise RefusedError(self._limits.too_many)

    def take(self, content: FileContent | ImageContent) -> None:
        """Take a file in; one that was taken already counts once.

        Raises:
            RefusedError: it exceeds the total.
        """
        key = (content.path, content.lines) if isinstance(content, FileContent) else (content.path, None)
        if key in self._files if isinstance(content, FileContent) else content.path in self._images:
            return
        self.check_room()
        size = max(len(content.data), len(content.text)) if isinstance(content, FileContent) else len(content.data)
        if self._bytes + size > self._limits.total_bytes:
            raise RefusedError(self._limits.too_much)
        self._bytes += size
        if isinstance(content, FileContent):
            self._files[key] = content
        else:
            self._images[content.path] = content

    def leave_out(self, path: str, reason: str, *, is_named: bool, is_image: bool = False) -> None:
        """Record why a file is not sent; of those that were not named themselves, only so many are listed."""
        if is_named:
            self._named.append(LeftOut(shown(path), str(reason), is_image))
            return
        kept = self._expected if reason in BY_CONVENTION else self._found
        if len(kept) < SHOWN:
            kept.append(LeftOut(shown(path), str(reason), is_image))
        self._counts[str(reason)] += 1

    def result(self) -> FilesRead:
        """Return everything; of the files that were found and left out, first those that nobody expects to be."""
        first = (self._found + self._expected)[:SHOWN]
        more = self._counts - Counter(one.reason for one in first)
        left_out = tuple(dict.fromkeys([*self._named, *first]))
        return FilesRead(tuple(self._files.values()), tuple(self._images.values()), left_out, dict(more))


def nothing_to_send(read: FilesRead, places: Places, field: str) -> InvalidInputError:
    """Return the error for names that lead to nothing that can be sent, with the reason for each."""
    lines = [f"- {one.path}: {one.reason}" for one in read.left_out[:LISTED]]
    rest = len(read.left_out) - len(lines) + sum(read.more_left_out.values())
    lines += [f"- and {rest:,} more"] * bool(rest)
    error = InvalidInputError("nothing that was named can be sent:\n" + "\n".join(lines) + "\n", field=field)
    reasons = {one.reason for one in read.left_out} | set(read.more_left_out)
    advice = ["Name other files, or leave them out."]
    if OUTSIDE in reasons:
        folders = listed([shown(root) for root in places.roots])
        advice.append(f"Files are read below {folders} ({places.source}); {ROOTS} names other folders.")
    if any(reason.startswith(SECRET) for reason in reasons):
        advice.append("CONVERSATION_MCP_ALLOW_SECRETS names files that may be sent although they are secrets.")
    error.advice = " ".join(advice)
    return error
