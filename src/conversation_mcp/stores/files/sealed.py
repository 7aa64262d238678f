"""The vault of an encrypted folder: a key for each conversation, in `<id>/key.json`, wrapped by the master key."""

import hashlib
import hmac
from contextlib import suppress
from pathlib import Path

from pydantic_core import from_json

from conversation_mcp.disk import files as disk
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.locks import LockFolder
from conversation_mcp.errors import ConversationCorruptedError, InvalidInputError, WrongKeyError
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.layout import ENCRYPTION_FILE, KEY_FILE, LOCKS
from conversation_mcp.sealing.cipher import NONCE_BYTES, TAG_BYTES, BrokenSealError, new_key, seal, unseal
from conversation_mcp.sealing.envelope import BYTES_HEAD, bound, pack, unpack
from conversation_mcp.sealing.keys import Encryption, id_of

LOCK = "encryption.lock"
LOCK_SECONDS = 30.0
READABLE = ("title", "createdAt", "updatedAt", "messageCount")
"""What stays readable beside the id if only the messages are encrypted."""
ADDED_BYTES = len(BYTES_HEAD) + NONCE_BYTES + TAG_BYTES
BROKEN = "is encrypted, and was changed or belongs to another conversation"


class SealedVault:
    """Seals everything, and opens what is sealed; what is not sealed yet is read as it is. Satisfies Vault."""

    is_sealing = True

    def __init__(self, root: Path, owner: str, encryption: Encryption, *, is_durable: bool = True) -> None:
        self._root = root
        self._owner = owner
        self._encryption = encryption
        self._is_durable = is_durable
        self._locks = LockFolder(root / LOCKS)

    def require(self) -> None:
        """Make the folder an encrypted one, unless it is one already."""
        self._folder_key()

    def check(self) -> None:
        """Raise WrongKeyError if the folder is encrypted with another key."""
        if (self._root / ENCRYPTION_FILE).exists():
            self._folder_key()

    def is_wrapped_otherwise(self, path: Path) -> bool:
        """Tell whether there is a wrapped key at the path that another key than the first has wrapped."""
        try:
            envelope = unpack(disk.read_file(path))
        except (FileNotFoundError, BrokenSealError):
            return False
        return envelope is not None and envelope.key_id != self._encryption.masters[0].key_id

    def wrap_anew(self, path: Path, about: tuple[str, ...]) -> None:
        """Wrap the key at the path by the first master key, unless it is already.

        Raises:
            ConversationCorruptedError: the key is damaged.
            WrongKeyError: none of the keys has wrapped it.
        """
        if self.is_wrapped_otherwise(path):
            with explained(path):
                try:
                    self.keep(path, about, self._unwrapped(path, about, None))
                except BrokenSealError:
                    raise ConversationCorruptedError(str(path), BROKEN) from None

    def refuse_plain(self, path: str) -> None:
        """Raise InvalidInputError always."""
        what = f"conversations are encrypted, and the export {path} would not be"
        raise InvalidInputError(f"{what}. `conversation-mcp export` writes one elsewhere.")

    def seal(self, folder: Path, conversation_id: str, data: bytes) -> bytes:
        """Return an envelope of JSON. The caller holds the write lock of the conversation or has just reserved it."""
        self.require()
        key = self._made_key(folder, conversation_id)
        facts = _facts(data) if self._encryption.extent == "messages" else {}
        first = {"conversationId": conversation_id}
        about = ("conversation", self._owner, conversation_id, bound(facts))
        return pack(first, id_of(key), seal(key, data, about), facts)

    def open(self, path: str, conversation_id: str, stored: bytes) -> bytes:
        """Return what is in the envelope, or the bytes if there is none. Raises OSError if the file is gone."""
        try:
            if (envelope := unpack(stored)) is None:
                return stored
            key = self.key(Path(path).parent, conversation_id)
            about = ("conversation", self._owner, conversation_id, envelope.bound)
            return unseal(key, envelope.sealed, about)
        except (BrokenSealError, FileNotFoundError):
            # It may have been moved, decrypted or encrypted anew since it was read.
            if (again := disk.read_file(Path(path))) != stored:
                return self.open(path, conversation_id, again)
            raise ConversationCorruptedError(path, BROKEN, conversation_id) from None

    def seal_content(self, folder: Path, conversation_id: str, name: str, data: bytes) -> bytes:
        """Return the sealed bytes after a head. The caller holds the write lock of the conversation."""
        self.require()
        key = self._made_key(folder, conversation_id)
        return BYTES_HEAD + seal(key, data, ("content", self._owner, conversation_id, name))

    def open_content(self, path: str, conversation_id: str, name: str, stored: bytes) -> bytes | None:
        """Return the bytes behind the head, or all if there is none, or if they are a content that begins so."""
        if not stored.startswith(BYTES_HEAD) or hash_of(stored) == name:
            return stored
        try:
            key = self.key(Path(path).parent.parent, conversation_id)
            return unseal(key, stored[len(BYTES_HEAD) :], ("content", self._owner, conversation_id, name))
        except (BrokenSealError, FileNotFoundError):
            again = disk.read_file(Path(path))
            return None if again == stored else self.open_content(path, conversation_id, name, again)

    def content_size(self, path: str, stored_bytes: int) -> int:
        """Return the size without what sealing has added, if it is sealed."""
        with open(path, "rb", buffering=0, opener=disk.open_regular) as file:
            is_sealed = file.read(len(BYTES_HEAD)) == BYTES_HEAD
        return stored_bytes - ADDED_BYTES if is_sealed else stored_bytes

    def call_name(self, key: str) -> str:
        """Return a keyed hash of the name."""
        return hmac.new(self._folder_key(), key.encode(), hashlib.sha256).hexdigest()

    def seal_call(self, data: bytes) -> bytes:
        """Return an envelope of JSON."""
        folder_key = self._folder_key()
        return pack({}, id_of(folder_key), seal(folder_key, data, ("call", self._owner)), {})

    def open_call(self, path: str, stored: bytes) -> bytes:
        """Return what is in the envelope, or the bytes if there is none."""
        try:
            if (envelope := unpack(stored)) is None:
                return stored
            return unseal(self._folder_key(), envelope.sealed, ("call", self._owner))
        except BrokenSealError:
            raise ValueError(path) from None

    def key(self, folder: Path, conversation_id: str) -> bytes:
        """Return the key of the conversation in that folder.

        Raises:
            FileNotFoundError: it has none.
            BrokenSealError: the file of the key is damaged.
            WrongKeyError: it was wrapped by another master key.
        """
        disk.refuse_link(folder)
        return self._unwrapped(folder / KEY_FILE, ("key", self._owner, conversation_id), conversation_id)

    def _made_key(self, folder: Path, conversation_id: str) -> bytes:
        about = ("key", self._owner, conversation_id)
        with explained(folder, conversation_id):
            disk.refuse_link(folder)
            try:
                return self._kept_or_made(folder / KEY_FILE, about, conversation_id)
            except BrokenSealError:
                raise ConversationCorruptedError(str(folder / KEY_FILE), BROKEN, conversation_id) from None

    def _folder_key(self) -> bytes:
        path = self._root / ENCRYPTION_FILE
        about = ("folder", self._owner)
        try:
            with explained(path):
                with suppress(FileNotFoundError):
                    return self._unwrapped(path, about, None)
                disk.make_private_folder(self._root)
            with self._locks.hold(LOCK, lambda: None, LOCK_SECONDS), explained(path):
                return self._kept_or_made(path, about, None)
        except BrokenSealError:
            raise ConversationCorruptedError(str(path), BROKEN) from None

    def _kept_or_made(self, path: Path, about: tuple[str, ...], conversation_id: str | None) -> bytes:
        with suppress(FileNotFoundError):
            return self._unwrapped(path, about, conversation_id)
        key = new_key()
        self.keep(path, about, key)
        return key

    def keep(self, path: Path, about: tuple[str, ...], key: bytes) -> None:
        """Write a key, wrapped by the first master key, and durably: what it seals is lost without it."""
        master = self._encryption.masters[0]
        disk.replace_file(path, pack({}, master.key_id, master.wrap(key, about), {}), is_durable=self._is_durable)

    def _unwrapped(self, path: Path, about: tuple[str, ...], conversation_id: str | None) -> bytes:
        envelope = unpack(disk.read_file(path))
        if envelope is None:
            raise BrokenSealError
        masters = self._encryption.masters
        for master in masters:
            with suppress(BrokenSealError):
                return master.unwrap(envelope.sealed, about)
        if self._encryption.master(envelope.key_id):
            raise BrokenSealError
        own = tuple(master.key_id for master in masters)
        raise WrongKeyError(str(path.parent), envelope.key_id, own, conversation_id)


def _facts(data: bytes) -> dict[str, object]:
    try:
        document = from_json(data)
    except ValueError:  # a damaged file is encrypted as it is
        return {}
    return {name: document[name] for name in READABLE if name in document} if isinstance(document, dict) else {}
