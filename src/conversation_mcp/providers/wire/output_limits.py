"""The limit of an answer's length, where one is sent."""

from conversation_mcp.providers.base import Request
from conversation_mcp.providers.quirks import Quirks


def optional_limit(request: Request, quirks: Quirks) -> int | None:
    """Return the limit to send with every request; None for a server that stops by itself, which gets none."""
    if quirks.output_limit_tokens is not None:
        return at_most(quirks.output_limit_tokens, request)
    return request.output_limit_tokens if quirks.fits_answer else None


def at_most(limit_tokens: int, request: Request) -> int:
    """Return the limit, or less if the window has no room for so much."""
    return min(limit_tokens, request.output_limit_tokens or limit_tokens)
