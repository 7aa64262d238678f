"""Sealing and opening with AES-256-GCM."""

import json
from collections.abc import Sequence
from secrets import token_bytes
from typing import TYPE_CHECKING

from conversation_mcp.errors import InvalidInputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16


class BrokenSealError(Exception):
    """What was sealed has changed, belongs elsewhere, or was sealed with another key."""


def new_key() -> bytes:
    """Return a random key."""
    return token_bytes(KEY_BYTES)


def seal(key: bytes, data: bytes, about: Sequence[str]) -> bytes:
    """Return nonce and sealed data; what it is `about` must be given again to open it."""
    nonce = token_bytes(NONCE_BYTES)
    return nonce + _cipher(key).encrypt(nonce, data, _bound(about))


def unseal(key: bytes, sealed: bytes, about: Sequence[str]) -> bytes:
    """Return the data.

    Raises:
        BrokenSealError: it was not sealed with this key, for this place, or not left as it was.
    """
    from cryptography.exceptions import InvalidTag

    if len(sealed) < NONCE_BYTES + TAG_BYTES:
        raise BrokenSealError
    try:
        return _cipher(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _bound(about))
    except InvalidTag:
        raise BrokenSealError from None


def _cipher(key: bytes) -> "AESGCM":
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as error:
        needed = "pip install 'conversation-mcp[encryption]'"
        raise InvalidInputError(f"encryption needs a package that is not installed ({error}): {needed}.") from None
    return AESGCM(key)


def _bound(about: Sequence[str]) -> bytes:
    return json.dumps(["conversation-mcp", *about]).encode()
