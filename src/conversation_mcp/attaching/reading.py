"""The reading of everything that one question names. It blocks; it ends between two files when it is told to."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from conversation_mcp.attaching.cache import SeenFile
from conversation_mcp.attaching.contents import FileContent, FilesRead, ImageContent
from conversation_mcp.attaching.git.asked import asked_in, is_change
from conversation_mcp.attaching.git.change import ChangeReader
from conversation_mcp.attaching.headers import header_of
from conversation_mcp.attaching.limits import RefusedError
from conversation_mcp.attaching.names import PIPE, LineRange, Naming, shown
from conversation_mcp.attaching.opening import Found, LinkFollower, ReadFile, looked_at, read, stamp_of
from conversation_mcp.attaching.outcome import SECRET, Outcome
from conversation_mcp.attaching.places import Exempt, Places
from conversation_mcp.attaching.texts import AN_IMAGE, text_of
from conversation_mcp.attaching.tools import Tools
from conversation_mcp.attaching.walking import FolderSearch, is_named_image
from conversation_mcp.documents.formats import CONVERTED
from conversation_mcp.documents.roots import MAGIC, split_pattern
from conversation_mcp.documents.skips import Reason

PIPE_NAME = "stdin"
NO_PIPE = "nothing is piped in"
NOTHING_MATCHES = "nothing matches this pattern"
NO_FILES = "there is no file in this folder"
LINES_OF_ONE = "lines can only be named of one text file"
"""For folders, patterns and images."""


class Brought(NamedTuple):
    """What came with a call and is not read from disk."""

    pipe: bytes | None = None
    handed: Mapping[str, bytes] | None = None
    """By name; if it is given, the call can name nothing else."""


class FilesReading:
    """Reads what is named, once."""

    def __init__(self, tools: Tools, naming: Naming, places: Places, exempt: Exempt, brought: Brought) -> None:
        self._tools = tools
        self._naming = naming
        self._places = places
        self._exempt = exempt
        self._pipe, self._handed = brought
        self._follower = LinkFollower(places)
        self._outcome = Outcome(tools.limits)

    def run(self, files: Sequence[str], images: Sequence[str]) -> FilesRead:
        """Return what the names lead to.

        Raises:
            StoppedError: it was told to stop.
        """
        for names, is_image in ((files, False), (images, True)):
            for given in names:
                try:
                    self._one(given, is_image=is_image)
                except RefusedError as refused:
                    self._outcome.leave_out(given, str(refused), is_named=True, is_image=is_image)
        return self._outcome.result()

    def _one(self, given: str, *, is_image: bool) -> None:
        self._tools.check_time()
        if self._handed is not None:
            self._take_brought(given, self._handed.get(given), is_image=is_image)
            return
        if given == PIPE:
            self._take_brought(PIPE_NAME, self._pipe, is_image=is_image)
            return
        if not is_image and is_change(given) and not self._is_file(given):
            folder = str(self._naming.working_folder) if self._naming.takes_relative else None
            changes = ChangeReader(self._tools, self._places, self._exempt, self._outcome)
            changes.read(asked_in(given, self._naming), folder)
            return
        named = self._naming.of(given, with_lines=not is_image)
        base, pattern = _split(named.path)
        there = self._follower.found(base)
        if (pattern or there.is_folder) and named.lines:
            raise RefusedError(LINES_OF_ONE)
        if pattern or there.is_folder:
            count = self._folder(there, pattern, is_image=is_image)
            if not count:
                why = NOTHING_MATCHES if pattern else NO_FILES
                self._outcome.leave_out(given, why, is_named=True, is_image=is_image)
        else:
            self._outcome.take(self._content(there, named.lines, is_image=is_image))

    def _is_file(self, given: str) -> bool:
        """Tell whether a file has the name of a change."""
        return self._naming.takes_relative and (self._naming.working_folder / given).exists()

    def _take_brought(self, name: str, data: bytes | None, *, is_image: bool) -> None:
        """Take in what came with the call."""
        if data is None:
            raise RefusedError(NO_PIPE)
        tools = self._tools
        if self._handed is not None and (what := tools.secrets.by_name(name)):
            raise RefusedError(_secret(what, "name"))
        is_document = is_image or (self._handed is not None and tools.formats.named(name) in CONVERTED)
        if len(data) > (tools.limits.document_bytes if is_document else tools.limits.file_bytes):
            raise RefusedError(tools.limits.too_large(is_document=is_document))
        seen = self._judged(name, data, is_image=is_image)
        self._outcome.take(self._allowed(seen, name, None))

    def _folder(self, folder: Found, pattern: Sequence[str], *, is_image: bool) -> int:
        """Read what is in a folder and matches a pattern, and return the number of files there."""
        if not folder.is_folder:
            raise RefusedError("not a folder")
        count = 0
        for path, is_wanted in FolderSearch(folder.path, pattern, self._tools, self._outcome, is_image=is_image):
            count += 1
            if not is_wanted:
                continue
            try:
                self._tools.check_time()
                self._outcome.check_room()
                self._outcome.take(self._content(looked_at(path), None, is_image=is_image))
            except RefusedError as refused:
                self._outcome.leave_out(path, str(refused), is_named=False, is_image=is_image)
        return count

    def _content(self, there: Found, lines: LineRange | None, *, is_image: bool) -> FileContent | ImageContent:
        seen = self._tools.cache.get(there.path, stamp_of(there.status), is_image=is_image)
        what = seen.secret_name if seen else self._tools.secrets.by_name(there.path)
        if what and not self._exempt.takes(there.path):
            raise RefusedError(_secret(what, "name"))
        if seen is None:
            seen = self._read(there, what, is_image=is_image)
        return self._allowed(seen, there.path, lines)

    def _read(self, there: Found, secret_name: str | None, *, is_image: bool) -> SeenFile:
        tools = self._tools
        is_document = is_image or tools.formats.named(there.path) in CONVERTED
        limit = tools.limits.document_bytes if is_document else tools.limits.file_bytes
        too_large = tools.limits.too_large(is_document=is_document)
        if not is_image and is_named_image(there.path) and there.status.st_size > limit:
            too_large = AN_IMAGE
        if there.status.st_size > limit:
            raise RefusedError(too_large)
        file = read(there.path, self._places, limit, too_large)
        if file.path != there.path and not self._exempt.takes(file.path) and tools.secrets.by_name(file.path):
            raise RefusedError(Reason.UNREADABLE)
        seen = replace(self._judged(there.path, file.data, is_image=is_image), secret_name=secret_name)
        self._keep(there.path, file, seen, is_image=is_image)
        return seen

    def _keep(self, path: str, file: ReadFile, seen: SeenFile, *, is_image: bool) -> None:
        if file.is_stable and self._tools.is_settled(file.changed_ns):
            self._tools.cache.put(path, file.stamp, seen, is_image=is_image)

    def _judged(self, path: str, data: bytes, *, is_image: bool) -> SeenFile:
        tools = self._tools
        try:
            if is_image:
                media_type, width, height = header_of(data)
                tools.limits.check_pixels(width, height)
                return SeenFile(ImageContent(shown(path), data, media_type, width, height))
            content = text_of(path, data, tools.formats, tools.limits)
        except RefusedError as refused:
            return SeenFile(str(refused))
        return SeenFile(replace(content, path=shown(path)), tools.secrets.by_content(content.text))

    def _allowed(self, seen: SeenFile, path: str, lines: LineRange | None) -> FileContent | ImageContent:
        content = seen.content
        if isinstance(content, str):
            raise RefusedError(content)
        if seen.secret and not (self._exempt.takes_pipe if path == PIPE_NAME else self._exempt.takes(path)):
            raise RefusedError(_secret(seen.secret, "content"))
        if lines is None or isinstance(content, ImageContent):
            return content
        if content.is_scan:
            raise RefusedError(Reason.NO_TEXT)
        text, which = lines.of(content.text)
        if self._tools.formats.named(path) in CONVERTED:  # its bytes are kept, from which lines cannot be cut
            return replace(content, text=text, lines=which, pages=None)
        return FileContent(content.path, text.encode(), text, which)


def _split(path: str) -> tuple[str, Sequence[str]]:
    """Split a pattern from the folder that it begins with; a plain path has none."""
    if not MAGIC.search(path):
        return path, ()
    base, pattern = split_pattern(Path(path))
    return (str(base), pattern) if pattern else (path, ())


def _secret(what: str, where: str) -> str:
    return f"{SECRET}{where}: {what}"
