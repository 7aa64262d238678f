"""The JSON in which sealed texts and wrapped keys are kept, and the head of sealed bytes."""

import json
import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from conversation_mcp.sealing.cipher import NONCE_BYTES, BrokenSealError

VERSION = 1
FIELD = "encrypted"
MARK = re.compile(rb'"encrypted"\s*:\s*\{')
SEEN_BYTES = 4096
"""How far the mark may be from the beginning, also after another program has written the file anew."""
BYTES_HEAD = b"conversation-mcp encrypted 1\n"
"""Begins bytes that are not JSON."""


class Envelope(NamedTuple):
    """What was sealed, with the id of its key and what is readable beside it."""

    key_id: str
    sealed: bytes
    facts: Mapping[str, object]

    @property
    def bound(self) -> str:
        """The facts as they are bound to what is sealed."""
        return bound(self.facts)


def bound(facts: Mapping[str, object]) -> str:
    """Return the facts in a form that is the same for the same facts."""
    return json.dumps(facts, sort_keys=True)


def pack(first: Mapping[str, object], key_id: str, sealed: bytes, facts: Mapping[str, object]) -> bytes:
    """Return the JSON: `first`, what is sealed, and the facts."""
    parts = {
        "version": VERSION,
        "keyId": key_id,
        "nonce": b64encode(sealed[:NONCE_BYTES]).decode(),
        "text": b64encode(sealed[NONCE_BYTES:]).decode(),
    }
    return json.dumps({**first, FIELD: parts, **facts}, ensure_ascii=False, indent=2).encode() + b"\n"


def unpack(data: bytes, first: str = "conversationId") -> Envelope | None:
    """Return what the JSON holds; None if nothing in it is sealed.

    Raises:
        BrokenSealError: something in it was sealed, but is damaged, or of a version that is not known.
    """
    if not MARK.search(data, 0, SEEN_BYTES):
        return None
    try:
        document: Any = json.loads(data)
    except (ValueError, RecursionError):
        raise BrokenSealError from None
    found = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    parts = found.get(FIELD)
    if not isinstance(parts, dict):
        return None
    facts = {name: value for name, value in found.items() if name not in (first, FIELD)}
    return _envelope(cast("dict[str, Any]", parts), facts)


def _envelope(parts: Mapping[str, Any], facts: Mapping[str, object]) -> Envelope:
    try:
        if parts["version"] != VERSION:
            raise BrokenSealError
        nonce, text = (b64decode(parts[name], validate=True) for name in ("nonce", "text"))
        return Envelope(str(parts["keyId"]), nonce + text, facts)
    except (LookupError, TypeError, ValueError, Base64Error):
        raise BrokenSealError from None
