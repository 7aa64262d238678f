"""From what HTTP and the provider say to the errors that a user reads."""

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conversation_mcp.errors import (
    ContextTooLargeError,
    ConversationMCPError,
    InvalidInputError,
    ProviderAuthError,
    ProviderError,
    ProviderQuotaError,
    ProviderRateLimitedError,
    ProviderRejectedError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    StreamBrokenError,
)
from conversation_mcp.logs import redact
from conversation_mcp.providers.http import TOO_MANY_REQUESTS, retry_after_seconds
from conversation_mcp.providers.perplexity.facts import BASE_URL_VARIABLE, KEY_VARIABLE, PROVIDER, Facts, Timeouts
from conversation_mcp.providers.wire.reading import NOTHING, JsonObject, object_at, parse_object, text_at
from conversation_mcp.text import shorten

if TYPE_CHECKING:
    import httpx

MARKUP = re.compile(r"<[a-z!/?]", re.IGNORECASE)
OUT_OF_CREDIT = re.compile("insufficient_quota|exceeded your current quota", re.IGNORECASE)
BAD_REQUEST, PAYMENT_REQUIRED, NOT_FOUND, SERVER_ERROR = 400, 402, 404, 500
REDIRECTS = range(300, 400)
MAX_CAUSE_CHARS = 200
MAX_ERROR_BYTES = 64 * 1024
NOT_SENT = "Nothing was billed. Ask again in a while."
GOES_ON = "The run goes on there and is looked up again by its id, not paid for again."


def short_cause(body: JsonObject) -> str:
    """Return the reason that a provider's JSON gives, as one short line without keys and markup; may be empty."""
    error = object_at(body, "error")
    texts = [text_at(error, "message"), text_at(body, "error"), text_at(body, "message"), text_at(body, "detail")]
    text = next((text for text in [*texts, text_at(error, "code"), text_at(error, "type")] if text.strip()), "")
    if MARKUP.search(text):
        return ""
    plain = "".join(char if char.isprintable() else " " for char in text)
    return shorten(redact(plain), MAX_CAUSE_CHARS).rstrip(". ")


@dataclass(frozen=True)
class Problem:
    """A response that is no success, reduced to what decides; `kind` is the type and, where it is a word, the code."""

    status: int
    kind: str
    param: str
    cause: str
    retry_after_seconds: float | None


async def read_problem(response: "httpx.Response", secret: str) -> Problem:
    """Read the start of the body of an error, without the secret; one that cannot be read has no cause."""
    import httpx  # noqa: PLC0415 -- costs start-up time

    data = bytearray()
    with suppress(httpx.HTTPError):
        async for chunk in response.aiter_bytes():
            data += chunk
            if len(data) > MAX_ERROR_BYTES:
                break
    body = parse_object(bytes(data).replace(secret.encode(), b"[redacted]")) or NOTHING
    error = object_at(body, "error")
    return Problem(
        status=response.status_code,
        kind=f"{text_at(error, 'type')} {text_at(error, 'code')}".strip(),
        param=text_at(error, "param"),
        cause=short_cause(body),
        retry_after_seconds=retry_after_seconds(response.headers),
    )


class UnseenError(ProviderUnavailableError):
    """A run could not be looked at, which says nothing about the run; `is_passing` when the next look may succeed."""

    def __init__(self, cause: str, advice: str = "", *, is_passing: bool = True) -> None:
        super().__init__(f"{PROVIDER} could not be asked about the run: {cause}.")
        self.advice = f"{advice} {GOES_ON}".lstrip()
        self.is_passing = is_passing


class ErrorMap:
    """Knows which error a user reads for which response; `base_url` is the one that was set, if any."""

    def __init__(self, facts: Facts, base_url: str | None) -> None:
        self._facts = facts
        self._base_url = base_url

    def of_create(self, problem: Problem) -> ProviderError:
        """Return the error for a create call that was answered with no success."""
        return self._of_status(problem) or ProviderUnavailableError(
            f"{PROVIDER} failed with HTTP {problem.status}{_because(problem)}.", maybe_billed=True
        )

    def of_look(self, problem: Problem) -> UnseenError:
        """Return the error for a look at a run that was answered with no success."""
        if problem.status == TOO_MANY_REQUESTS or problem.status >= SERVER_ERROR:
            return UnseenError(f"HTTP {problem.status}{_because(problem)}")
        return unseen(self.of_create(problem))

    def _of_status(self, problem: Problem) -> ProviderError | None:
        if problem.status == PAYMENT_REQUIRED or OUT_OF_CREDIT.search(f"{problem.kind} {problem.cause}"):
            return ProviderQuotaError(PROVIDER)
        known = {
            401: ProviderAuthError(PROVIDER, KEY_VARIABLE),
            413: ContextTooLargeError(PROVIDER),
            TOO_MANY_REQUESTS: ProviderRateLimitedError(PROVIDER, problem.retry_after_seconds),
        }.get(problem.status)
        return known if known or problem.status >= SERVER_ERROR else self._rejected(problem)

    def _rejected(self, problem: Problem) -> ProviderRejectedError:
        retired = self._facts.retired
        if retired.types.intersection(problem.kind.split()) or any(
            phrase in problem.cause for phrase in retired.phrases
        ):
            return self._retired()
        if problem.status == BAD_REQUEST:
            return ProviderRejectedError(f"{PROVIDER} refused the request{_because(problem)}.")
        if problem.status == NOT_FOUND or problem.status in REDIRECTS:
            return ProviderRejectedError(
                f"{PROVIDER} has nothing at this address (HTTP {problem.status}){_because(problem)}.",
                f"Check {BASE_URL_VARIABLE} and the model.",
            )
        return ProviderRejectedError(f"{PROVIDER} refused the request with HTTP {problem.status}{_because(problem)}.")

    def _retired(self) -> ProviderRejectedError:
        what = f"{PROVIDER} retired this endpoint on {self._facts.retired.since}"
        if self._base_url:
            return ProviderRejectedError(
                f"{what}; {BASE_URL_VARIABLE} points at an old gateway.", f"Unset it or use {self._facts.base_url}."
            )
        return ProviderRejectedError(
            f"{what}, and this version still asks it.",
            f"Get a newer conversation-mcp, or set {BASE_URL_VARIABLE} to a gateway that takes /v1/agent.",
        )

    def of_transport(self, error: Exception) -> ConversationMCPError:
        """Return the error for a create call on which httpx gave up; says whether it can have been billed."""
        import httpx  # noqa: PLC0415 -- costs start-up time

        match error:
            case httpx.InvalidURL() | httpx.UnsupportedProtocol():
                return InvalidInputError(
                    f"{BASE_URL_VARIABLE} is no web address. Unset it or use {self._facts.base_url}."
                )
            case httpx.ConnectTimeout() | httpx.PoolTimeout():
                late = ProviderTimeoutError(PROVIDER, "take the connection", self._facts.timeouts.connect_seconds)
                late.advice = NOT_SENT
                return late
            case httpx.ConnectError() | httpx.ProxyError():
                return ProviderUnavailableError(f"{PROVIDER} cannot be reached{_why(error)}.")
            case _:
                return broken_off(error, self._facts.timeouts)


def broken_off(error: Exception, timeouts: Timeouts) -> ProviderError:
    """Return the error for a call that was sent and whose answer did not come, or not to its end."""
    import httpx  # noqa: PLC0415 -- costs start-up time

    if isinstance(error, httpx.TimeoutException):
        return ProviderTimeoutError(PROVIDER, "send anything", timeouts.silence_seconds)
    return StreamBrokenError(f"the connection to {PROVIDER} broke before the answer was complete.")


def unseen(error: ProviderError) -> UnseenError:
    """Return the error for a run that cannot be looked at until a person mends what this error names."""
    return UnseenError(error.message.rstrip("."), error.advice, is_passing=False)


def unseen_in_time(what: str, limit_seconds: float) -> ProviderTimeoutError:
    """Return the error for a run that did not show itself within our limit; it is not over."""
    error = ProviderTimeoutError(PROVIDER, what, limit_seconds)
    error.advice = GOES_ON
    return error


def _because(problem: Problem) -> str:
    return f": {problem.cause}" if problem.cause else ""


def _why(error: Exception) -> str:
    cause = short_cause({"message": str(error)})
    return f": {cause}" if cause else ""
