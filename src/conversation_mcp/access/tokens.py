"""Tokens: random, told once, and kept only as hashes."""

import base64
import hashlib
import re
import secrets
import zlib
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from conversation_mcp.owners import LOCAL, REQUIREMENT, is_owner

PREFIX = "cmcp_"
"""Tells people, and scanners of leaked secrets, what it is."""
RANDOM_BYTES = 32
RANDOM_CHARS = 52
CHECK_CHARS = 7
SHAPE = re.compile(rf"{PREFIX}[a-z2-7]{{{RANDOM_CHARS + CHECK_CHARS}}}")
ID_CHARS = 8


def _checked_owner(name: str) -> str:
    if not is_owner(name):
        raise ValueError(REQUIREMENT)
    return name


class IssuedToken(BaseModel):
    """What is kept of a token."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    hash: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    owner: Annotated[str, AfterValidator(_checked_owner)]
    """Whose conversations it opens."""
    created_at: AwareDatetime
    expires_at: AwareDatetime | None = None
    may_act_for: tuple[str, ...] = ()
    """Patterns of other owners, in which `*` stands for any characters."""

    @property
    def token_id(self) -> str:
        """What people call this token; it cannot be used in its place."""
        return self.hash[:ID_CHARS]

    def is_valid(self, now: datetime) -> bool:
        """Tell whether it has not expired."""
        return self.expires_at is None or now < self.expires_at

    def acts_for(self, owner: str) -> bool:
        """Tell whether a request with it may work on the conversations of this owner."""
        return owner == self.owner or any(_matches(pattern, owner) for pattern in self.may_act_for)


class TokenList(BaseModel):
    """The content of the file of tokens."""

    tokens: tuple[IssuedToken, ...]


def new_token() -> str:
    """Return a new token: the prefix, the random part and a checksum by which typing errors are noticed."""
    return with_checksum(_text(secrets.token_bytes(RANDOM_BYTES)))


def with_checksum(random: str) -> str:
    """Return the token of this random part."""
    return PREFIX + random + _checksum(random)


def is_token(text: str) -> bool:
    """Tell whether the text has the form and the checksum of a token."""
    random = text[len(PREFIX) : -CHECK_CHARS]
    return SHAPE.fullmatch(text) is not None and text.endswith(_checksum(random))


def hash_of(token: str) -> str:
    """Return the hash under which a token is kept. Its random part is too long to be guessed, so no salt is needed."""
    return hashlib.sha256(token.encode()).hexdigest()


def _matches(pattern: str, owner: str) -> bool:
    """Tell whether the pattern covers the owner. Who runs the server is covered only by name."""
    if owner == LOCAL:
        return pattern == LOCAL
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), owner, re.DOTALL) is not None


def _checksum(random: str) -> str:
    return _text(zlib.crc32(random.encode()).to_bytes(4, "big"))


def _text(data: bytes) -> str:
    return base64.b32encode(data).decode().rstrip("=").lower()
