"""The tokens of a running server, which follow their file without a restart."""

import hmac
import logging
import time
from collections.abc import Callable, Mapping

import anyio
from anyio import to_thread

from conversation_mcp.access.token_file import FileStamp, TokenFile
from conversation_mcp.access.tokens import IssuedToken, hash_of, is_token
from conversation_mcp.errors import FilesystemError

LOOK_EVERY_SECONDS = 1.0

logger = logging.getLogger(__name__)


class LiveTokens:
    """Knows which tokens are in the file, at most a second after it changed."""

    def __init__(self, file: TokenFile, seconds: Callable[[], float] = time.monotonic) -> None:
        self._file = file
        self._seconds = seconds
        self._looked_at: float | None = None
        self._looking = anyio.Lock()
        self._stamp: FileStamp | None = None
        self._by_hash: Mapping[str, IssuedToken] = {}
        self.is_there = False
        """Whether there is, or was while this process ran, a file of tokens."""
        self.is_readable = True
        """Whether the file could be read; if not, no token is known."""

    async def refresh(self) -> None:
        """Read the file again if it changed, having looked at most once a second."""
        # Requests that come while the file is read again use what is known; before it was read, nothing is.
        if self._is_due() and not (self._looked_at is not None and self._looking.locked()):
            async with self._looking:
                if self._is_due():
                    began = self._seconds()
                    await to_thread.run_sync(self._read_again)
                    self._looked_at = began

    def find(self, token: str) -> IssuedToken | None:
        """Return what is known of a token, whether or not it has expired."""
        if not is_token(token):
            return None
        wanted = hash_of(token)
        issued = self._by_hash.get(wanted)
        return issued if issued and hmac.compare_digest(issued.hash, wanted) else None

    def _is_due(self) -> bool:
        return self._looked_at is None or self._seconds() - self._looked_at >= LOOK_EVERY_SECONDS

    def _read_again(self) -> None:
        try:
            stamp = self._file.stamp()
            if stamp is None:
                self._by_hash, self._stamp, self.is_readable = {}, None, True
            elif stamp != self._stamp or not self.is_readable:
                self.is_there = True
                self._by_hash = {each.hash: each for each in self._file.read()}
                self._stamp, self.is_readable = stamp, True
        except FilesystemError as error:
            if self.is_readable:
                logger.error("no token is accepted: %s", error.sentence())  # noqa: TRY400 -- the sentence says it all
            self._by_hash, self.is_there, self.is_readable = {}, True, False
