"""Owners: those to whom conversations belong. Each has a place of its own in a store."""

import unicodedata

LOCAL = "local"
"""Who runs the program itself, over stdio or by the command line."""
MAX_OWNER_BYTES = 512
HIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
REQUIREMENT = f"must be a name of 1 to {MAX_OWNER_BYTES} bytes without control characters, and without spaces around it"


def is_owner(name: str) -> bool:
    """Tell whether this can be an owner. Names are compared byte by byte: two that look alike are two owners."""
    if not name or name != name.strip() or any(unicodedata.category(character) in HIDDEN for character in name):
        return False
    return len(name.encode()) <= MAX_OWNER_BYTES
