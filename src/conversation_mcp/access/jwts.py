"""Signed tokens (JWT) of an identity provider."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, cast

from conversation_mcp.access.key_sets import Jwk, KeySet
from conversation_mcp.owners import LOCAL, is_owner

MAX_TOKEN_CHARS = 16_384
SKEW_SECONDS = 60
"""How far the clocks of two machines may be apart."""


class JwtRules(NamedTuple):
    """What a token must claim."""

    issuer: str
    audience: str
    algorithms: tuple[str, ...]


class JwtVerifier:
    """Tells whose a signed token is."""

    def __init__(self, rules: JwtRules, keys: KeySet, now: Callable[[], datetime]) -> None:
        self._rules = rules
        self._keys = keys
        self._now = now

    async def owner_of(self, token: str) -> str | None:
        """Return the subject of a token that is valid now; None if it is not, or its subject cannot be an owner."""
        import jwt

        if len(token) > MAX_TOKEN_CHARS or token.count(".") != 2:  # noqa: PLR2004 -- header, claims and signature
            return None
        try:
            header = jwt.get_unverified_header(token)
            algorithm, key_id = header.get("alg"), header.get("kid")
            if algorithm not in self._rules.algorithms:
                return None
            for key in await self._keys.find(key_id):
                if key.get("alg", algorithm) == algorithm:
                    return self._owner_in(self._claims(token, key, algorithm))
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
            return None
        return None

    def _claims(self, token: str, key: Jwk, algorithm: str) -> Mapping[str, Any]:
        """Return the claims of a token with the right signature, issuer and audience; raises PyJWTError."""
        import jwt

        return jwt.decode(
            token,
            key=jwt.PyJWK(dict(key), algorithm),
            algorithms=[algorithm],
            issuer=self._rules.issuer,
            audience=self._rules.audience,
            options={
                "require": ["exp", "iss", "aud", "sub"],
                "verify_exp": False,  # these three are checked below, by the clock of the program
                "verify_nbf": False,
                "verify_iat": False,
                "enforce_minimum_key_length": True,
            },
        )

    def _owner_in(self, claims: Mapping[str, Any]) -> str | None:
        now, owner = self._now().timestamp(), cast("object", claims["sub"])
        begins = (claims.get("nbf", now), claims.get("iat", now))
        is_current = float(claims["exp"]) > now - SKEW_SECONDS and all(float(at) <= now + SKEW_SECONDS for at in begins)
        # Who runs the server is never whom somebody else's identity provider calls so.
        is_fit = isinstance(owner, str) and is_owner(owner) and owner != LOCAL
        return owner if is_current and is_fit and isinstance(owner, str) else None
