"""The translation of HTTP errors and providers' refusals to the errors that a user reads."""

import re
from collections.abc import Callable

from conversation_mcp.errors import (
    NO_STEPS,
    ContextTooLargeError,
    ConversationMCPError,
    ImagesRefusedError,
    InvalidInputError,
    ProviderAuthError,
    ProviderError,
    ProviderQuotaError,
    ProviderRateLimitedError,
    ProviderRejectedError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    ProviderUnreachableError,
    Steps,
    StreamBrokenError,
)
from conversation_mcp.providers.definitions import Configured
from conversation_mcp.providers.wire.http import TOO_MANY_REQUESTS
from conversation_mcp.providers.wire.json_values import JsonObject
from conversation_mcp.providers.wire.limits import Timeouts
from conversation_mcp.providers.wire.problems import (
    BAD_REQUEST,
    GONE,
    NOT_FOUND,
    OK,
    PAYMENT_REQUIRED,
    SERVER_ERROR,
    WireProblem,
    problem_in,
    short_cause,
)

OUT_OF_CREDIT = re.compile(
    "insufficient_quota|exceeded your current quota|insufficient (?:balance|credits?)|budget_exceeded"
    "|budget has been exceeded",
    re.IGNORECASE,
)
OVERLOADED = re.compile(
    r"overloaded|(?:over|at|no) capacity|unavailable_error|loading (?:the )?model|model is (?:still )?loading"
    "|no (?:slot|worker|server)s? (?:is |are )?available",
    re.IGNORECASE,
)
"""The signs of a server without capacity, which has not accepted the question and bills nothing."""
BLIND = re.compile(
    r"image (?:input|content)s? (?:(?:is|are) )?not (?:supported|enabled|allowed)|support image input"
    r"|(?:not|n't) support (?:images?|vision)|image_url is only supported|not a (?:multimodal|vision)|at most 0 image",
    re.IGNORECASE,
)
"""The signs of a model without eyes, whatever the status: llama.cpp answers 500, OpenRouter 404."""
TOO_LARGE = 413
NOT_OF_LENGTH = frozenset({401, 402, 403, 404, 410, TOO_LARGE, TOO_MANY_REQUESTS})
"""Statuses that are never about the length of a conversation, whatever their text says."""
# Not a standard status; Anthropic's for a lack of capacity.
SITE_OVERLOADED = 529
REDIRECTS = range(300, 400)
GOES_ON = "The run continues there and is looked up again by its id, not paid for again."


class UnseenError(ProviderUnavailableError):
    """A look at a run failed, which says nothing about the run.

    `obstacle` is a cause that a person must remove; without one, the next look may succeed.
    """

    def __init__(self, title: str, cause: str, obstacle: ProviderError | None = None) -> None:
        super().__init__(f"{title} could not be asked about the run: {cause}.")
        self._obstacle = obstacle
        self.is_passing = obstacle is None

    def next_step(self, steps: Steps = NO_STEPS) -> str:
        return " ".join(filter(None, (self._obstacle and self._obstacle.next_step(steps), GOES_ON)))


class ErrorMap:
    """Maps responses to errors; `special` is tried first, for errors that only one provider has."""

    def __init__(
        self,
        configured: Configured,
        timeouts: Timeouts,
        special: Callable[[WireProblem], ProviderError | None] = lambda _: None,
    ) -> None:
        self._definition = configured.definition
        self._title = configured.definition.title
        self._timeouts = timeouts
        self._special = special
        self.secret = configured.key.get_secret_value() if configured.key else ""
        """The key, which must not be in any error, even if the provider repeats it."""

    def problem_in(self, body: JsonObject, status: int = OK) -> WireProblem | None:
        """Return the problem that this provider's JSON reports."""
        return problem_in(body, status, self.secret)

    def of_create(self, problem: WireProblem) -> ProviderError:
        """Return the error for a create call that did not succeed."""
        is_refused = problem.status == SITE_OVERLOADED or OVERLOADED.search(f"{problem.kind} {problem.cause}")
        return self._of_status(problem) or ProviderUnavailableError(
            f"{self._title} failed with HTTP {problem.status}{_because(problem)}.", maybe_billed=not is_refused
        )

    def of_body(self, problem: WireProblem) -> ProviderError:
        """Return the error for a problem that came with a status of success, before any part of the answer."""
        if problem.status == OK and problem.overflow is None:
            return self.of_failure(problem)
        return self.of_create(problem)

    def of_failure(self, problem: WireProblem) -> ProviderUnavailableError:
        """Return the error for a run that the provider gave up."""
        because = f": {problem.cause}" if problem.cause else ""
        return ProviderUnavailableError(f"{self._title} could not finish the answer{because}.", maybe_billed=True)

    def of_look(self, problem: WireProblem) -> UnseenError:
        """Return the error for a look at a run that did not succeed."""
        if problem.status == TOO_MANY_REQUESTS or problem.status >= SERVER_ERROR:
            return UnseenError(self._title, f"HTTP {problem.status}{_because(problem)}")
        return self.unseen(self.of_create(problem))

    def unseen(self, error: ProviderError) -> UnseenError:
        """Return the error for a run that cannot be looked at until a person removes the cause in `error`."""
        return UnseenError(self._title, error.message.rstrip("."), error)

    def unseen_in_time(self, what: str, limit_seconds: float) -> ProviderTimeoutError:
        """Return the error for a look that exceeded the program's time limit; the run has not ended."""
        error = ProviderTimeoutError(self._title, what, limit_seconds)
        error.advice = GOES_ON
        return error

    def auth(self) -> ProviderAuthError:
        """Return the error for a key that is refused or cannot be sent."""
        return ProviderAuthError(self._title, self._definition.key_variable)

    def _of_status(self, problem: WireProblem) -> ProviderError | None:
        if error := self._special(problem):
            return error
        # Before the statuses: some providers report an empty account as 429, and waiting does not help there.
        said = f"{problem.kind} {problem.cause}"
        if problem.status == PAYMENT_REQUIRED or OUT_OF_CREDIT.search(said):
            return ProviderQuotaError(self._title)
        if BLIND.search(said):
            return ImagesRefusedError(self._title, problem.cause.rstrip("."))
        if problem.overflow is not None and problem.status not in NOT_OF_LENGTH:
            return too_large(self._title, problem)
        known = {
            401: self.auth(),
            TOO_LARGE: ContextTooLargeError(self._title),
            TOO_MANY_REQUESTS: ProviderRateLimitedError(self._title, problem.retry_after_seconds),
        }.get(problem.status)
        return known if known or problem.status >= SERVER_ERROR else self._rejected(problem)

    def _rejected(self, problem: WireProblem) -> ProviderRejectedError:
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
        """Return the error for a failed connection of a create call; it says whether the call can have been billed."""
        import httpx

        match error:
            case httpx.InvalidURL() | httpx.UnsupportedProtocol():
                return self.no_address()
            case httpx.ConnectTimeout() | httpx.PoolTimeout():
                limit_seconds = self._timeouts.connect_seconds
                return ProviderTimeoutError(self._title, "accept the connection", limit_seconds, was_sent=False)
            case httpx.ConnectError() | httpx.ProxyError():
                return ProviderUnreachableError(f"{self._title} cannot be reached{_why(error)}.")
            case _:
                return broken_off(error, self._title, self._timeouts)

    def no_address(self) -> InvalidInputError:
        """Return the error for an invalid base URL."""
        usual = self._definition.base_url
        instead = f"Unset it or use {usual}." if usual else "Use one such as https://example.org/v1."
        return InvalidInputError(f"{self._definition.base_url_name} is not a web address. {instead}")


def too_large(title: str, problem: WireProblem) -> ContextTooLargeError:
    """Return the error for a conversation that is too long for the provider."""
    needed, window = problem.overflow or (None, None)
    return ContextTooLargeError(title, needed_tokens=needed, window_tokens=window, cause=problem.cause)


def broken_off(error: Exception, title: str, timeouts: Timeouts) -> ProviderError:
    """Return the error for a call that was sent, and whose answer did not come or broke off."""
    import httpx

    if isinstance(error, httpx.TimeoutException):
        return ProviderTimeoutError(title, "send anything", timeouts.silence_seconds)
    return StreamBrokenError(f"the connection to {title} broke before the answer was complete.")


def _because(problem: WireProblem) -> str:
    return f": {problem.cause}" if problem.cause else ""


def _why(error: Exception) -> str:
    cause = short_cause({"message": str(error)})
    return f": {cause}" if cause else ""
