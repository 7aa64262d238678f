"""Decides who may enter: tokens of this program's file and, where an identity provider is set, its signed tokens."""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple
from urllib.parse import unquote

from conversation_mcp.access.attempts import FailedAttempts
from conversation_mcp.access.jwts import JwtVerifier
from conversation_mcp.access.live_tokens import LiveTokens
from conversation_mcp.access.tokens import PREFIX, IssuedToken
from conversation_mcp.owners import LOCAL, is_owner
from conversation_mcp.server.http.callers import Denial, HeaderLines, Identity, nobody_else

OWNER_HEADER = b"conversation-owner"
"""Names the owner for whom a request acts, percent-encoded where it is not ASCII."""
WANTED = "A valid token is needed, as in Authorization: Bearer TOKEN"
UNREADABLE = Denial(503, "Tokens cannot be checked; the server's log says why", {"retry-after": "30"})

logger = logging.getLogger(__name__)


class Challenge(NamedTuple):
    """What a refused client is told about getting in."""

    metadata_url: str | None = None

    def denial(self, error: str | None = None) -> Denial:
        """Return the answer to a request without a valid token; `error` is left out if it had none at all."""
        parts = [f'error="{error}"'] if error else []
        parts += [f'resource_metadata="{self.metadata_url}"'] if self.metadata_url else []
        return Denial(401, WANTED, {"www-authenticate": " ".join(("Bearer", ", ".join(parts))).rstrip()})


class Access:
    """Knows callers by their tokens. Without tokens and identity provider, everybody is who runs the server."""

    def __init__(
        self,
        tokens: LiveTokens,
        jwts: JwtVerifier | None,
        now: Callable[[], datetime],
        *,
        is_locked: bool,
        challenge: Challenge | None = None,
        attempts: FailedAttempts | None = None,
        trusted_proxies: Iterable[str] = (),
    ) -> None:
        """Prepare the decisions.

        Args:
            tokens: the tokens of this program.
            jwts: checks the tokens of an identity provider.
            now: the clock.
            is_locked: whether tokens are needed even if their file is gone.
            challenge: what a refused client is told.
            attempts: counts those who try.
            trusted_proxies: addresses that tell the truth about whom they pass on.
        """
        self._tokens = tokens
        self._jwts = jwts
        self._now = now
        self._is_locked = is_locked or jwts is not None
        self._challenge = challenge or Challenge()
        self._attempts = FailedAttempts() if attempts is None else attempts
        self._trusted = frozenset(trusted_proxies)

    async def identify(self, headers: HeaderLines, address: str) -> Identity | Denial:
        """Return the caller, or the answer to a request of nobody known."""
        lines = tuple(headers)
        await self._tokens.refresh()
        if not (self._is_locked or self._tokens.is_there):
            return Identity(LOCAL)
        scheme, _, token = _only(lines, b"authorization").partition(" ")
        if scheme.lower() != "bearer" or not (token := token.strip(" ")):
            return self._challenge.denial()
        if token.startswith(PREFIX) and not self._tokens.is_readable:
            return UNREADABLE
        caller = await self._caller(token)
        if caller is None:
            return self._turned_away(self._client(lines, address))
        return _acting(caller, lines)

    async def _caller(self, token: str) -> IssuedToken | Identity | None:
        if token.startswith(PREFIX):
            issued = self._tokens.find(token)
            return issued if issued and issued.is_valid(self._now()) else None
        owner = await self._jwts.owner_of(token) if self._jwts else None
        return Identity(owner, owner) if owner else None

    def _turned_away(self, client: str) -> Denial:
        """Count the attempt. Who is only turned away now still gets in with a valid token, which is looked at first."""
        seconds = self._attempts.note(client)
        if not seconds:
            return self._challenge.denial("invalid_token")
        if self._attempts.is_first_over(client):
            logger.warning("many attempts without a valid token from %s", client)
        headers = {"retry-after": str(seconds), "connection": "close"}
        return Denial(429, f"Too many attempts without a valid token; wait {seconds} s", headers)

    def _client(self, lines: HeaderLines, address: str) -> str:
        """Return the address of the client: the last one that a trusted proxy did not add itself."""
        passed = [value for name, value in lines if name == b"x-forwarded-for"]
        hops = [hop.strip() for hop in b",".join(passed).decode("latin-1").split(",") if hop.strip()]
        while address in self._trusted and hops:
            address = hops.pop()
        return address


def _acting(caller: IssuedToken | Identity, lines: HeaderLines) -> Identity | Denial:
    """Return for whom the caller acts: itself, or an owner whom it names and may act for."""
    name = f"{caller.owner}/{caller.token_id}" if isinstance(caller, IssuedToken) else caller.owner
    named = [value for header, value in lines if header == OWNER_HEADER]
    may_act_for = caller.acts_for if isinstance(caller, IssuedToken) else nobody_else
    if not named:
        return Identity(caller.owner, name, may_act_for)
    owner = unquote(named[0].decode("latin-1"), errors="strict") if len(named) == 1 and _is_utf8(named[0]) else ""
    if not is_owner(owner):
        return Denial(400, "Conversation-Owner must be one name, percent-encoded as UTF-8 where it is not ASCII")
    if owner == caller.owner or may_act_for(owner):
        return Identity(owner, name, may_act_for, is_for_another=owner != caller.owner)
    return Denial(
        403, "This token may not act for that owner", {"www-authenticate": 'Bearer error="insufficient_scope"'}
    )


def _is_utf8(value: bytes) -> bool:
    if not value.isascii():
        return False
    try:
        unquote(value.decode("ascii"), errors="strict")
    except UnicodeDecodeError:
        return False
    return True


def _only(lines: HeaderLines, wanted: bytes) -> str:
    values = [value for name, value in lines if name == wanted]
    return values[0].decode("latin-1") if len(values) == 1 else ""
