"""Where conversations come from, and the mark that tells an origin without a word of it."""

from hashlib import sha256

Origin = tuple[str, str]
"""Where a conversation was brought in from, and its id there."""

OWN = "conversation-mcp"
"""Where conversations come from that were begun by this program."""


def mark_of(origin: Origin) -> str:
    """Return what stands for an origin."""
    return sha256("\0".join(origin).encode("utf-8", "replace")).hexdigest()[:32]
