"""The conversations that were read or written last, so that a file is parsed and encoded only where it differs."""

import errno
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from conversation_mcp.disk import files as disk
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.recent import Recent
from conversation_mcp.errors import ConversationCorruptedError, ConversationNotFoundError
from conversation_mcp.records.coded import Coded, decoded
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.files.vault import Vault


class KnownFiles:
    """Reads files, and remembers them."""

    def __init__(self, root: Path, vault: Vault, recent: Recent[tuple[Path, str], bytes, Coded]) -> None:
        self._root = root
        self._vault = vault
        self._recent = recent

    def read(self, path: Path, conversation_id: ConversationId) -> Coded:
        """Read the file as it is now; parsed is what differs from what was read or written last."""
        with readable(path, conversation_id, self._root):
            stored = disk.read_file(path)
            # The bytes are compared, not the times of the file: an edit within one tick of the clock counts, too.
            known = self._recent.get((self._root, conversation_id), stored)
            if known is None:
                data = self._vault.open(str(path), conversation_id, stored)
                last = self._recent.last((self._root, conversation_id))
                self._recent.make_room((self._root, conversation_id), len(stored))
                known = decoded(data, str(path), conversation_id, last)
                self.keep(conversation_id, stored, known)
        return known

    def keep(self, conversation_id: ConversationId, stored: bytes, known: Coded) -> None:
        """Remember a file that was written with those bytes."""
        size = len(stored) if known.data is stored else len(stored) + len(known.data)
        self._recent.put((self._root, conversation_id), stored, known, size)

    def forget(self, conversation_id: ConversationId) -> None:
        """Drop what is remembered of a conversation."""
        self._recent.drop(lambda key: key == (self._root, conversation_id))


@contextmanager
def readable(path: Path, conversation_id: ConversationId, root: Path) -> Generator[None]:
    """Translate errors of the block, which reads the file of a conversation in that folder, into ours."""
    with explained(path, conversation_id):
        try:
            yield
        except FileNotFoundError:
            raise ConversationNotFoundError(conversation_id, str(root)) from None
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise
            problem = f"is larger than the limit of {disk.MAX_FILE_BYTES >> 20} MiB"
            raise ConversationCorruptedError(str(path), problem, conversation_id) from None
