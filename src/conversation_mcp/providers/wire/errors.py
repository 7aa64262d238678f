"""From what HTTP and a provider say to the errors that a user reads."""

import re
from collections.abc import Callable
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
    ProviderUnreachableError,
    StreamBrokenError,
)
from conversation_mcp.logs import redact
from conversation_mcp.providers.definitions import Configured
from conversation_mcp.providers.http import TOO_MANY_REQUESTS, retry_after_seconds
from conversation_mcp.providers.wire.limits import Timeouts
from conversation_mcp.providers.wire.reading import (
    JsonObject,
    count_at,
    items_at,
    object_at,
    objects_at,
    parse_first_object,
    parse_object,
    text_at,
)
from conversation_mcp.text import shorten

if TYPE_CHECKING:
    import httpx

MARKUP = re.compile(r"<[a-z!/?]", re.IGNORECASE)
OUT_OF_CREDIT = re.compile("insufficient_quota|exceeded your current quota|insufficient balance", re.IGNORECASE)
TOO_LONG = re.compile(
    "context_length_exceeded|exceed_context_size_error|maximum (context|prompt) length|available context size"
    "|context window|maximum number of tokens|prompt is too long",
    re.IGNORECASE,
)
WINDOW_AND_NEEDED = re.compile(
    r"maximum (?:context|prompt) length is (\d{1,9})\b.{1,60}?(\d{1,9}) tokens", re.IGNORECASE
)
NO_SUCH_ENDPOINT = re.compile("unexpected endpoint", re.IGNORECASE)
OK, BAD_REQUEST, PAYMENT_REQUIRED, NOT_FOUND, GONE, UNPROCESSABLE, SERVER_ERROR = 200, 400, 402, 404, 410, 422, 500
STATUSES = range(400, 600)
REDIRECTS = range(300, 400)
MAX_CAUSE_CHARS = 200
MAX_ERROR_BYTES = 64 * 1024
GOES_ON = "The run goes on there and is looked up again by its id, not paid for again."


def short_cause(body: JsonObject, secret: str = "") -> str:
    """Return the reason that a provider's JSON gives, as one short line without keys and markup; may be empty."""
    error = object_at(body, "error")
    listed = [": ".join(part for part in detail if part) for detail in _details(body)]
    texts = (
        *(text_at(error, "message"), text_at(body, "error")),
        *listed,
        *(text_at(body, "message"), text_at(body, "detail"), text_at(error, "code"), text_at(error, "type")),
    )
    text = next((text for text in texts if text.strip()), "")
    if MARKUP.search(text):
        return ""
    if secret:
        text = text.replace(secret, "[redacted]")
    plain = "".join(char if char.isprintable() else " " for char in text)
    return shorten(redact(plain), MAX_CAUSE_CHARS).rstrip(". ")


@dataclass(frozen=True)
class Problem:
    """A response that is no success, reduced to what decides; `kind` is the type and, where it is a word, the code."""

    status: int
    kind: str = ""
    param: str = ""
    cause: str = ""
    retry_after_seconds: float | None = None
    needed_tokens: int | None = None
    window_tokens: int | None = None

    def names(self, field: str) -> bool:
        """Tell whether the request was refused because of this field."""
        return self.status in {BAD_REQUEST, UNPROCESSABLE} and field in f"{self.param} {self.cause}"


async def read_problem(response: "httpx.Response", secret: str) -> Problem:
    """Read the start of the body of an error, without the secret; one that cannot be read has no cause."""
    import httpx  # noqa: PLC0415 -- costs start-up time

    data = bytearray()
    with suppress(httpx.HTTPError):
        async for chunk in response.aiter_bytes():
            data += chunk
            if len(data) > MAX_ERROR_BYTES:
                break
    body = parse_first_object(bytes(data)) or {}
    return _problem(body, response.status_code, retry_after_seconds(response.headers), secret)


def problem_in(body: JsonObject, status: int = OK, secret: str = "") -> Problem | None:
    """Return the problem that JSON tells of, also under a status that says success; None when it tells of none.

    Where the status says success, the problem has the number that the error itself gives, or none that is one.
    """
    error = body.get("error")
    if not error:
        return None
    code = count_at(object_at(body, "error"), "code")
    if status == OK and code is not None and code in STATUSES:
        status = code
    elif status == OK and isinstance(error, str) and NO_SUCH_ENDPOINT.search(error):
        status = NOT_FOUND
    return _problem(body, status, None, secret)


def _problem(body: JsonObject, status: int, retry_seconds: float | None, secret: str) -> Problem:
    error = object_at(body, "error")
    cause = short_cause(body, secret)
    said = WINDOW_AND_NEEDED.search(cause)
    return Problem(
        status=status,
        kind=f"{text_at(error, 'type')} {text_at(error, 'code')}".strip(),
        param=text_at(error, "param") or next((place for place, _ in _details(body)), ""),
        cause=cause,
        retry_after_seconds=retry_seconds,
        needed_tokens=count_at(error, "n_prompt_tokens") or (int(said[2]) if said else None),
        window_tokens=count_at(error, "n_ctx") or (int(said[1]) if said else None),
    )


def _details(body: JsonObject) -> list[tuple[str, str]]:
    """Return field and complaint of each error of a framework that lists them, dotted and as it says it."""
    nested = object_at(body, "message") or parse_object(text_at(body, "message")) or {}
    found = objects_at(body, "detail") or objects_at(nested, "detail")
    return [
        (".".join(str(part) for part in items_at(detail, "loc") if part != "body"), text_at(detail, "msg"))
        for detail in found
    ]


class UnseenError(ProviderUnavailableError):
    """A run could not be looked at, which says nothing about the run; `is_passing` when the next look may succeed."""

    def __init__(self, title: str, cause: str, advice: str = "", *, is_passing: bool = True) -> None:
        super().__init__(f"{title} could not be asked about the run: {cause}.")
        self.advice = f"{advice} {GOES_ON}".lstrip()
        self.is_passing = is_passing


class ErrorMap:
    """Knows which error a user reads for which response.

    `special` is asked first for an error that only this provider has.
    """

    def __init__(
        self,
        configured: Configured,
        timeouts: Timeouts,
        special: Callable[[Problem], ProviderError | None] = lambda _: None,
    ) -> None:
        self._definition = configured.definition
        self._title = configured.definition.title
        self._timeouts = timeouts
        self._special = special
        self.secret = configured.key.get_secret_value() if configured.key else ""
        """What must be in no error, whatever the provider writes there."""

    def problem_in(self, body: JsonObject, status: int = OK) -> Problem | None:
        """Return the problem that JSON of this provider tells of."""
        return problem_in(body, status, self.secret)

    def of_create(self, problem: Problem) -> ProviderError:
        """Return the error for a create call that was answered with no success."""
        return self._of_status(problem) or ProviderUnavailableError(
            f"{self._title} failed with HTTP {problem.status}{_because(problem)}.", maybe_billed=True
        )

    def of_body(self, problem: Problem) -> ProviderError:
        """Return the error for a problem that came with a status of success, before any of the answer."""
        if problem.status == OK:
            return self.of_failure(problem)
        return self.of_create(problem)

    def of_failure(self, problem: Problem) -> ProviderUnavailableError:
        """Return the error for a run that the provider itself gave up."""
        because = f": {problem.cause}" if problem.cause else ""
        return ProviderUnavailableError(f"{self._title} could not finish the answer{because}.", maybe_billed=True)

    def of_look(self, problem: Problem) -> UnseenError:
        """Return the error for a look at a run that was answered with no success."""
        if problem.status == TOO_MANY_REQUESTS or problem.status >= SERVER_ERROR:
            return UnseenError(self._title, f"HTTP {problem.status}{_because(problem)}")
        return self.unseen(self.of_create(problem))

    def unseen(self, error: ProviderError) -> UnseenError:
        """Return the error for a run that cannot be looked at until a person mends what this error names."""
        return UnseenError(self._title, error.message.rstrip("."), error.advice, is_passing=False)

    def unseen_in_time(self, what: str, limit_seconds: float) -> ProviderTimeoutError:
        """Return the error for a run that did not show itself within our limit; it is not over."""
        error = ProviderTimeoutError(self._title, what, limit_seconds)
        error.advice = GOES_ON
        return error

    def auth(self) -> ProviderAuthError:
        """Return the error for a key that is refused, or cannot even be sent."""
        return ProviderAuthError(self._title, self._definition.key_variable)

    def _of_status(self, problem: Problem) -> ProviderError | None:
        if error := self._special(problem):
            return error
        said = f"{problem.kind} {problem.cause}"
        if problem.status == PAYMENT_REQUIRED or OUT_OF_CREDIT.search(said):
            return ProviderQuotaError(self._title)
        if problem.status == BAD_REQUEST and TOO_LONG.search(said):
            return ContextTooLargeError(
                self._title, needed_tokens=problem.needed_tokens, window_tokens=problem.window_tokens
            )
        known = {
            401: self.auth(),
            413: ContextTooLargeError(self._title),
            TOO_MANY_REQUESTS: ProviderRateLimitedError(self._title, problem.retry_after_seconds),
        }.get(problem.status)
        return known if known or problem.status >= SERVER_ERROR else self._rejected(problem)

    def _rejected(self, problem: Problem) -> ProviderRejectedError:
        if problem.status == BAD_REQUEST:
            return ProviderRejectedError(f"{self._title} refused the request{_because(problem)}.")
        if problem.status == NOT_FOUND or problem.status in REDIRECTS:
            return ProviderRejectedError(
                f"{self._title} has nothing at this address (HTTP {problem.status}){_because(problem)}.",
                f"Check {self._definition.base_url_name} and the model.",
            )
        if problem.status == GONE:
            return ProviderRejectedError(
                f"{self._title} no longer has what was asked for (HTTP {problem.status}){_because(problem)}.",
                "Choose another model, or get a newer conversation-mcp.",
            )
        return ProviderRejectedError(
            f"{self._title} refused the request with HTTP {problem.status}{_because(problem)}."
        )

    def of_transport(self, error: Exception) -> ConversationMCPError:
        """Return the error for a create call on which httpx gave up; says whether it can have been billed."""
        import httpx  # noqa: PLC0415 -- costs start-up time

        match error:
            case httpx.InvalidURL() | httpx.UnsupportedProtocol():
                return self.no_address()
            case httpx.ConnectTimeout() | httpx.PoolTimeout():
                limit_seconds = self._timeouts.connect_seconds
                return ProviderTimeoutError(self._title, "take the connection", limit_seconds, was_sent=False)
            case httpx.ConnectError() | httpx.ProxyError():
                return ProviderUnreachableError(f"{self._title} cannot be reached{_why(error)}.")
            case _:
                return broken_off(error, self._title, self._timeouts)

    def no_address(self) -> InvalidInputError:
        """Return the error for a base URL that is none."""
        usual = self._definition.base_url
        instead = f"Unset it or use {usual}." if usual else "Use one such as https://example.org/v1."
        return InvalidInputError(f"{self._definition.base_url_name} is no web address. {instead}")


def broken_off(error: Exception, title: str, timeouts: Timeouts) -> ProviderError:
    """Return the error for a call that was sent and whose answer did not come, or not to its end."""
    import httpx  # noqa: PLC0415 -- costs start-up time

    if isinstance(error, httpx.TimeoutException):
        return ProviderTimeoutError(title, "send anything", timeouts.silence_seconds)
    return StreamBrokenError(f"the connection to {title} broke before the answer was complete.")


def _because(problem: Problem) -> str:
    return f": {problem.cause}" if problem.cause else ""


def _why(error: Exception) -> str:
    cause = short_cause({"message": str(error)})
    return f": {cause}" if cause else ""
