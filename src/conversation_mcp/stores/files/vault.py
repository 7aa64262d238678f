"""The one place through which the words of conversations pass on their way to files and back.

`Vault` is the port. A `PlainVault` leaves bytes as they are, but knows what is encrypted when it sees it, and writes no
words into a folder that is. `sealed.py` has the other one, which is imported only where a key is set.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from conversation_mcp.errors import KeyMissingError
from conversation_mcp.records.layout import ENCRYPTION_FILE

if TYPE_CHECKING:
    from conversation_mcp.sealing.keys import Encryption

MARK = b'"encrypted"'
SEEN_BYTES = 4096
HEAD = b"conversation-mcp encrypted "
"""Begins sealed bytes that are not JSON."""


class Vault(Protocol):
    """Seals what is written into one owner's folder, and opens what is read there, sealed or not."""

    is_sealing: bool

    def require(self) -> None:
        """Raise EncryptionKeyError if the folder is encrypted, but not with these keys."""
        ...

    def refuse_plain(self, path: str) -> None:
        """Raise InvalidInputError if words that are not sealed must not be written at that path in the folder."""
        ...

    def seal(self, folder: Path, conversation_id: str, data: bytes) -> bytes:
        """Return the bytes of the file of a conversation in that folder as they are stored.

        Raises:
            EncryptionKeyError: the folder is encrypted, but not with these keys.
            FilesystemError: the key of the conversation cannot be read or written.
        """
        ...

    def open(self, path: str, conversation_id: str, stored: bytes) -> bytes:
        """Return the file of a conversation as it was before it was sealed.

        Raises:
            EncryptionKeyError: it was sealed with another key.
            ConversationCorruptedError: it is not what was sealed for this conversation.
        """
        ...

    def seal_content(self, folder: Path, conversation_id: str, name: str, data: bytes) -> bytes:
        """Return a content of a conversation as it is stored; raises as `seal`."""
        ...

    def open_content(self, path: str, conversation_id: str, name: str, stored: bytes) -> bytes | None:
        """Return the content as it was, None if it is damaged; raises as `open`."""
        ...

    def content_size(self, path: str, stored_bytes: int) -> int:
        """Return the size of a content of which so much is stored."""
        ...

    def call_name(self, key: str) -> str:
        """Return the name of the file of a call, from which what was asked cannot be guessed."""
        ...

    def seal_call(self, data: bytes) -> bytes:
        """Return a file of the register of calls as it is stored."""
        ...

    def open_call(self, path: str, stored: bytes) -> bytes:
        """Return a file of the register of calls. Raises ValueError if it is damaged."""
        ...


class PlainVault:
    """Leaves everything as it is, and refuses to write into an encrypted folder; satisfies Vault."""

    is_sealing = False

    def __init__(self, root: Path) -> None:
        self._root = root
        self._marker = f"{root}{os.sep}{ENCRYPTION_FILE}"

    def require(self) -> None:
        """Raise KeyMissingError if the folder is encrypted."""
        if os.path.lexists(self._marker):
            raise KeyMissingError(str(self._root))

    def refuse_plain(self, path: str) -> None:
        """Raise KeyMissingError if the folder is encrypted."""
        del path
        self.require()

    def seal(self, folder: Path, conversation_id: str, data: bytes) -> bytes:
        """Return the bytes themselves."""
        del folder, conversation_id
        self.require()
        return data

    def open(self, path: str, conversation_id: str, stored: bytes) -> bytes:
        """Return the bytes themselves. Raises KeyMissingError if they are sealed."""
        if is_sealed(stored):
            raise KeyMissingError(path, conversation_id)
        return stored

    def seal_content(self, folder: Path, conversation_id: str, name: str, data: bytes) -> bytes:
        """Return the bytes themselves."""
        del name
        return self.seal(folder, conversation_id, data)

    def open_content(self, path: str, conversation_id: str, name: str, stored: bytes) -> bytes | None:
        """Return the bytes themselves. Raises KeyMissingError if they are sealed."""
        from conversation_mcp.records.hashes import hash_of

        if stored.startswith(HEAD) and hash_of(stored) != name:
            raise KeyMissingError(path, conversation_id)
        return stored

    def content_size(self, path: str, stored_bytes: int) -> int:
        """Return the size itself."""
        del path
        return stored_bytes

    def call_name(self, key: str) -> str:
        """Return the name itself."""
        return key

    def seal_call(self, data: bytes) -> bytes:
        """Return the bytes themselves."""
        return data

    def open_call(self, path: str, stored: bytes) -> bytes:
        """Return the bytes themselves."""
        del path
        return stored


def vault_of(root: Path, owner: str, encryption: "Encryption | None", *, is_durable: bool = True) -> Vault:
    """Return the vault of an owner's folder."""
    if encryption is None:
        return PlainVault(root)
    from conversation_mcp.stores.files.sealed import SealedVault

    return SealedVault(root, owner, encryption, is_durable=is_durable)


def is_sealed(stored: bytes) -> bool:
    """Tell whether the bytes of a file of JSON are an envelope, whole or damaged."""
    if MARK not in stored[:SEEN_BYTES]:
        return False
    from conversation_mcp.sealing.cipher import BrokenSealError
    from conversation_mcp.sealing.envelope import unpack

    try:
        return unpack(stored) is not None
    except BrokenSealError:
        return True
