"""The hashes by which the contents of files and images are kept."""

import re
from hashlib import sha256

HASH = re.compile(r"[0-9a-f]{64}")


def hash_of(data: bytes) -> str:
    """Return the SHA-256 of the bytes in hexadecimal, under which they are kept."""
    return sha256(data).hexdigest()
