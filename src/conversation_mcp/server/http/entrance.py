"""The entrance of a server, as its settings want it."""

from urllib.parse import urlsplit

from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from pydantic import AnyHttpUrl
from starlette.types import ASGIApp

from conversation_mcp.access.jwts import JwtRules, JwtVerifier
from conversation_mcp.access.key_sets import KeySet
from conversation_mcp.access.live_tokens import LiveTokens
from conversation_mcp.access.token_file import TokenFile, default_tokens_path
from conversation_mcp.clock import utc_now
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.server.http.access import Access, Challenge
from conversation_mcp.server.http.serving import Entrance
from conversation_mcp.settings import Settings


def is_locked(settings: Settings) -> bool:
    """Tell whether requests need a token: there is a file of them, or an identity provider is set.

    Raises:
        InvalidInputError: an identity provider is set by halves.
    """
    return _verifier(settings) is not None or _token_file(settings).exists


def open_entrance(settings: Settings) -> Entrance:
    """Make the entrance; one without tokens locks itself as soon as there is a file of them."""
    return _entrance(settings, is_always_locked=False)


def open_locked_entrance(settings: Settings) -> Entrance:
    """Make the entrance of a server that needs tokens, whatever becomes of their file."""
    return _entrance(settings, is_always_locked=True)


def _entrance(settings: Settings, *, is_always_locked: bool) -> Entrance:
    routes: dict[str, ASGIApp] = {}
    challenge = Challenge()
    if settings.jwt_issuer and (resource := _url_of(settings.jwt_audience)):
        metadata = create_protected_resource_routes(resource, [AnyHttpUrl(settings.jwt_issuer)])[0]
        challenge = Challenge(str(build_resource_metadata_url(resource)))
        routes[metadata.path] = metadata
    tokens, jwts = LiveTokens(_token_file(settings)), _verifier(settings)
    access = Access(
        tokens,
        jwts,
        utc_now,
        is_locked=is_always_locked,
        challenge=challenge,
        trusted_proxies=settings.trusted_proxies,
    )
    return Entrance(access, routes)


def _token_file(settings: Settings) -> TokenFile:
    return TokenFile(settings.tokens_file or default_tokens_path())


def _verifier(settings: Settings) -> JwtVerifier | None:
    given = {
        "CONVERSATION_MCP_JWT_KEYS": settings.jwt_keys,
        "CONVERSATION_MCP_JWT_ISSUER": settings.jwt_issuer,
        "CONVERSATION_MCP_JWT_AUDIENCE": settings.jwt_audience,
    }
    if not any(given.values()):
        return None
    if missing := [name for name, value in given.items() if not value]:
        raise InvalidInputError(
            f"signed tokens are checked only if keys, issuer and audience are all set; {' and '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing."
        )
    if not urlsplit(settings.jwt_issuer or "").scheme:
        raise InvalidInputError(f"CONVERSATION_MCP_JWT_ISSUER must be a URL; got {settings.jwt_issuer!r}.")
    rules = JwtRules(settings.jwt_issuer or "", settings.jwt_audience or "", settings.jwt_algorithms)
    return JwtVerifier(rules, KeySet(settings.jwt_keys or ""), utc_now)


def _url_of(audience: str | None) -> AnyHttpUrl | None:
    """Return the audience if it is the address of the server, from which clients can be told where to get a token."""
    return AnyHttpUrl(audience) if audience and audience.startswith(("https://", "http://")) else None
