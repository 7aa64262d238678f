"""The master keys, from a setting, a file or the keyring of the system. Nothing here shows a key."""

import hashlib
import hmac
import os
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Literal

from conversation_mcp.disk.faults import reason_of
from conversation_mcp.disk.files import read_linked_file
from conversation_mcp.errors import EncryptionKeyError
from conversation_mcp.sealing.cipher import KEY_BYTES, BrokenSealError, seal, unseal

Extent = Literal["messages", "all"]
"""What is encrypted: everything, or everything but the facts that lists show."""
KEYRING = "keyring"
"""The value that stands for a key in the keyring of the system."""
SERVICE, ENTRY = "conversation-mcp", "encryption-key"
SHAPE = "32 bytes in base64, such as `openssl rand -base64 32` prints"
ID_CHARS = 16


class MasterKey:
    """A key that wraps other keys. Its id tells it from others and reveals nothing of it."""

    __slots__ = ("_key", "key_id")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.key_id = id_of(key)

    def wrap(self, key: bytes, about: tuple[str, ...]) -> bytes:
        """Return the key, sealed."""
        return seal(self._key, key, about)

    def unwrap(self, wrapped: bytes, about: tuple[str, ...]) -> bytes:
        """Return the key that was wrapped; raises as `unseal`."""
        key = unseal(self._key, wrapped, about)
        if len(key) != KEY_BYTES:
            raise BrokenSealError
        return key


class Encryption:
    """What the settings say about encryption: where the keys are, and what they encrypt.

    The first key wraps what is written from now on; further ones only open what they have wrapped before.
    """

    def __init__(self, keys: str | None, file: Path | None, extent: Extent = "all") -> None:
        self._given = keys
        self._file = file
        self.extent: Extent = extent

    @cached_property
    def masters(self) -> tuple[MasterKey, ...]:
        """The master keys, at least one.

        Raises:
            EncryptionKeyError: a key is missing, or is none.
        """
        _forbid_cores()
        keys = tuple(MasterKey(_decoded(text, where)) for text, where in self._texts())
        if not keys:
            raise EncryptionKeyError(f"there is no encryption key in {self._where}.", f"Put a key there: {SHAPE}.")
        return keys

    def master(self, key_id: str) -> MasterKey | None:
        """Return the key of that id, if the settings name it. Raises as `masters`."""
        return next((master for master in self.masters if master.key_id == key_id), None)

    @property
    def _where(self) -> str:
        return f"the key file {self._file}" if self._given is None else "CONVERSATION_MCP_ENCRYPTION_KEY"

    def _texts(self) -> Iterator[tuple[str, str]]:
        if self._given is None:
            yield from ((line, self._where) for line in _words(_read(self._file)))
            return
        for text in _words(self._given):
            if text == KEYRING:
                yield from ((each, "the keyring of the system") for each in _words(_from_keyring()))
            else:
                yield text, self._where


def _forbid_cores() -> None:
    """Have the system write no image of this process, which would hold the keys, when it crashes."""
    with suppress(ImportError, OSError, ValueError):  # Windows has no such limit, and writes none by itself
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def id_of(key: bytes) -> str:
    """Return an id of a key, from which the key cannot be found."""
    return hmac.new(key, b"conversation-mcp key id", hashlib.sha256).hexdigest()[:ID_CHARS]


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _decoded(text: str, where: str) -> bytes:
    try:
        key = b64decode(text, validate=True)
    except (Base64Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise EncryptionKeyError(f"the encryption key in {where} is not {SHAPE}.", "Correct it; nothing was changed.")
    return key


def _read(file: Path | None) -> str:
    if file is None:
        return ""
    try:
        return read_linked_file(Path(os.path.abspath(file.expanduser()))).decode("utf-8-sig")  # noqa: PTH100 -- links stay
    except UnicodeDecodeError:
        return "-"  # no key, and said as such
    except OSError as error:
        message = f"the key file {file} cannot be read: {reason_of(error)}."
        raise EncryptionKeyError(message, "Check CONVERSATION_MCP_ENCRYPTION_KEY_FILE.") from None


def _from_keyring() -> str:
    try:
        keyring = import_module("keyring")  # by name: it is optional, and so not there for every check of types
    except ImportError as error:
        message = f"the keyring of the system needs a package that is not installed ({error})."
        raise EncryptionKeyError(message, "Install it with `pip install keyring`, or give the key in a file.") from None
    put = f"Put one there with `keyring set {SERVICE} {ENTRY}`: {SHAPE}."
    try:
        found: object = keyring.get_password(SERVICE, ENTRY)
    except Exception as error:  # noqa: BLE001 -- each backend has errors of its own
        message = f"the keyring of the system cannot be read ({type(error).__name__})."
        raise EncryptionKeyError(message, "Unlock it, or give the key in a file.") from None
    if not isinstance(found, str) or not found:
        raise EncryptionKeyError("there is no encryption key in the keyring of the system.", put)
    return found
