"""The ids of memories, and the hash that the same texts have in common."""

from conversation_mcp.records.hashes import hash_of

DERIVED = "memory-"
DERIVED_DIGITS = 16


def id_of(memory_id: str | None, content: str) -> str:
    """Return the id of a memory, made from its text if none is given."""
    return memory_id or DERIVED + same_text(content)[:DERIVED_DIGITS]


def same_text(content: str) -> str:
    """Return a hash that texts have in common if only their spaces differ."""
    return hash_of(" ".join(content.split()).encode("utf-8", "surrogatepass"))
