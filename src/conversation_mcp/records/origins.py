"""Origins of conversations, and marks that identify an origin without revealing it."""

from hashlib import sha256

Origin = tuple[str, str]
"""Where a conversation was imported from, and its id there."""

OWN = "conversation-mcp"
"""The origin of conversations that this program started."""


def mark_of(origin: Origin) -> str:
    """Return the mark of an origin."""
    return sha256("\0".join(origin).encode("utf-8", "replace")).hexdigest()[:32]
