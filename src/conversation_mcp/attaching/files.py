"""The entry: files and images that a question names, read off the event loop."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path

import anyio
import anyio.to_thread

from conversation_mcp.attaching.cache import FileCache
from conversation_mcp.attaching.contents import FilesRead
from conversation_mcp.attaching.limits import ReadLimits
from conversation_mcp.attaching.names import Naming
from conversation_mcp.attaching.outcome import nothing_to_send
from conversation_mcp.attaching.places import Exempt, Places, places
from conversation_mcp.attaching.reading import Brought, FilesReading
from conversation_mcp.attaching.secrets import SecretRules
from conversation_mcp.attaching.tools import StoppedError, Tools
from conversation_mcp.documents.formats import Formats
from conversation_mcp.errors import FilesystemError
from conversation_mcp.searching.stamped import is_settled
from conversation_mcp.settings import Settings

MAX_READINGS = 4
"""How many questions have their files read at the same time."""
GRACE_SECONDS = 5
"""How much longer than allowed a single file may take before the disk counts as dead."""
NOTHING = FilesRead()


class FileReader:
    """Reads the files that questions name."""

    def __init__(
        self,
        settings: Settings,
        cache: FileCache,
        now: Callable[[], datetime],
        formats: Formats | None = None,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._settings = settings
        self._limits = ReadLimits.of(settings)
        self._cache = cache
        self._now = now
        self._environment = environment or {}
        self._given_formats = formats
        self._limiter = anyio.CapacityLimiter(MAX_READINGS)

    @property
    def is_reading(self) -> bool:
        """Whether a thread still reads, even if nobody waits for it any more."""
        return self._limiter.borrowed_tokens > 0

    async def read(
        self,
        files: Sequence[str],
        images: Sequence[str] = (),
        *,
        roots: Sequence[Path] | None = None,
        working_folder: Path,
        home: Path | None,
        pipe: bytes | None = None,
        handed: Mapping[str, bytes] | None = None,
        takes_relative: bool = False,
    ) -> FilesRead:
        """Return the contents of what is named, and what is left out and why.

        Args:
            files: paths, folders and patterns of text files and documents; `-` for the pipe; `git:staged` and the
                like for changes of a repository.
            images: the same of images.
            roots: the client's roots, if it has any.
            working_folder: where relative paths begin, and what may be read if nothing else is said.
            home: what `~` stands for.
            pipe: what is piped in.
            handed: the contents of all that is named, if they came with the call; no path is followed then.
            takes_relative: whether relative paths are understood, as in a command line.

        Raises:
            InvalidInputError: nothing of it can be sent, or nothing may be read at all.
            FilesystemError: the disk does not answer.
        """
        if not files and not images:
            return NOTHING
        naming = Naming(working_folder, home, takes_relative)
        stopped = anyio.Event()
        work = partial(self._read, files, images, naming, roots, Brought(pipe, handed), stopped.is_set)
        try:
            with anyio.fail_after(self._limits.seconds + GRACE_SECONDS):
                return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._limiter)
        except TimeoutError:
            reason = "the disk does not answer"
            raise FilesystemError([*files, *images][0], reason) from None
        finally:
            stopped.set()  # a thread that was abandoned ends at its next file

    def _read(
        self,
        files: Sequence[str],
        images: Sequence[str],
        naming: Naming,
        roots: Sequence[Path] | None,
        brought: Brought,
        is_stopped: Callable[[], bool],
    ) -> FilesRead:
        until = time.monotonic() + self._limits.seconds
        tools = Tools(
            self._limits,
            self._formats,
            self._secrets,
            self._cache,
            is_settled=lambda changed_ns: is_settled(changed_ns, self._now()),
            seconds_left=lambda: until - time.monotonic(),
            is_stopped=is_stopped,
            environment=self._environment,
        )
        allowed = Places((), "")
        if brought.handed is None:
            allowed = places(roots, self._settings.roots, naming.working_folder, naming.home)
        try:
            read = FilesReading(tools, naming, allowed, Exempt(self._settings.allow_secrets), brought).run(
                files, images
            )
        except StoppedError:
            return NOTHING
        if not read.files and not read.images:
            raise nothing_to_send(read, allowed, field="files" if files else "images")
        return read

    @cached_property
    def _formats(self) -> Formats:
        return self._given_formats or Formats()  # made at the first reading, because that reads a file

    @cached_property
    def _secrets(self) -> SecretRules:
        return SecretRules(self._formats)
