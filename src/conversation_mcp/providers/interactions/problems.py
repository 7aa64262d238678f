"""The refusals that Google words in its own way."""

import re

from conversation_mcp.errors import ProviderError, ProviderQuotaError, ProviderRateLimitedError
from conversation_mcp.providers.wire.errors import ErrorMap
from conversation_mcp.providers.wire.http import TOO_MANY_REQUESTS
from conversation_mcp.providers.wire.problems import BAD_REQUEST, WireProblem

NO_KEY = re.compile(r"api[ _]key (?:not valid|invalid|expired)|api_key_invalid", re.IGNORECASE)


def special_error(problem: WireProblem, errors: ErrorMap, title: str) -> ProviderError | None:
    """Return the error for a refused key that comes as a bad request, and for a rate limit in the words of a quota.

    Google calls both the limit of a minute and that of a free account a quota; only waiting helps against the first.
    """
    said = f"{problem.kind} {problem.cause}"
    if problem.status == BAD_REQUEST and NO_KEY.search(said):
        return errors.auth()
    if problem.status != TOO_MANY_REQUESTS:
        return None
    if problem.is_lasting:
        return ProviderQuotaError(title)
    return ProviderRateLimitedError(title, problem.retry_after_seconds)
