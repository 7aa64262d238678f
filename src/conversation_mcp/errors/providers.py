"""Errors of providers."""

from collections.abc import Mapping

from conversation_mcp.errors.base import NO_STEPS, ConversationMCPError, Steps, new_conversation, offered
from conversation_mcp.text import listed

MAYBE_BILLED = "The call may have been billed and was not repeated. Ask again to try once more."
NOT_BILLED = "Nothing was billed. Ask again in a while."


class ProviderError(ConversationMCPError):
    """The provider gave no answer; `usage` is what it charged all the same."""

    def __init__(self, message: str, *, conversation_id: str | None = None) -> None:
        super().__init__(message, conversation_id=conversation_id)
        self.usage: Mapping[str, float] = {}
        self.kept_from: tuple[str, ...] = ()
        """Fallback models that were not asked, because the words would leave this machine."""

    @property
    def ends_run(self) -> bool:
        """Whether the run has certainly ended; if not, it may still be fetched by its id."""
        return True

    @property
    def is_free(self) -> bool:
        """Whether nothing can have been billed, so that another provider may be asked."""
        return not self.usage

    @property
    def was_sent(self) -> bool:
        return True

    def _told(self, steps: Steps) -> str:
        names = listed(self.kept_from)
        kept = f" Not asked from the fallback list, because words would leave this machine: {names}." if names else ""
        return super()._told(steps) + kept


class NotSentError(ProviderError):
    """The call failed before anything was sent."""

    @property
    def was_sent(self) -> bool:
        return False


class ProviderNotConfiguredError(NotSentError):
    """No configured provider can answer the question."""

    code = "PROVIDER_NOT_CONFIGURED"


class ModelUnavailableError(NotSentError):
    """The named model may not be asked, or does not exist."""

    code = "PROVIDER_REJECTED"
    advice = "Name another model. Nothing was sent."


class ProviderAuthError(ProviderError):
    """The key was refused."""

    code = "PROVIDER_AUTH"

    def __init__(self, provider: str, variable: str) -> None:
        super().__init__(f"{provider} refused the key.")
        self.advice = f"Set {variable} to a key from its API console"

    def next_step(self, steps: Steps = NO_STEPS) -> str:
        check = f"; {steps['check']} shows where the key came from" if "check" in steps else ""
        return f"{self.advice}{check}."


class ProviderQuotaError(ProviderError):
    """The account is out of credit."""

    code = "PROVIDER_QUOTA"
    advice = "Add credit, then ask again."

    def __init__(self, provider: str) -> None:
        super().__init__(f"the {provider} account is out of credit. Nothing was billed for this call.")


class ProviderRateLimitedError(ProviderError):
    """Too many requests; nothing was billed."""

    code = "PROVIDER_RATE_LIMITED"
    retryable = True

    def __init__(self, provider: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(f"{provider} accepts no more requests at the moment. Nothing was billed for this call.")
        self.retry_after_seconds = retry_after_seconds
        self.advice = f"Ask again in {retry_after_seconds or 60:.0f} s."


class ProviderRejectedError(ProviderError):
    """The provider understood the request and refuses it."""

    code = "PROVIDER_REJECTED"

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


class ContextTooLargeError(ProviderError):
    """The conversation is larger than the provider accepts."""

    code = "CONTEXT_TOO_LARGE"

    def __init__(
        self, provider: str, *, needed_tokens: int | None = None, window_tokens: int | None = None, cause: str = ""
    ) -> None:
        numbers = f" ({needed_tokens:,} tokens; limit {window_tokens:,})" if needed_tokens and window_tokens else ""
        because = f": {cause}" if cause else ""
        super().__init__(
            f"this conversation is larger than {provider} accepts{numbers}{because}. Nothing was billed for this call."
        )

    def next_step(self, steps: Steps = NO_STEPS) -> str:
        return new_conversation(steps)


class ConversationTooLongError(ContextTooLargeError, NotSentError):
    """The conversation is larger than the chosen model accepts; nothing was sent."""

    def __init__(
        self, model: str, tokens: int, limit_tokens: int, source: str, takes: Mapping[str, int] | None = None
    ) -> None:
        """`takes` are the tokens of what cannot be left out, by its name."""
        super().__init__(model)
        what = "with this question the conversation has"
        if takes:
            what = f"{listed(f'{name} ({size:,})' for name, size in takes.items())} alone have"
        self.message = (
            f"{what} about {tokens:,} tokens; {model} accepts about {limit_tokens:,}"
            f"{f' ({source})' if source else ''}. Nothing was sent."
        )
        self.tokens = tokens
        self.larger: tuple[str, ...] = ()
        """Models that can be asked and accept it, first those that disclose the words to no one new."""
        self.outside: tuple[str, ...] = ()
        """More such models, outside this machine, for words that were only on it."""

    def next_step(self, steps: Steps = NO_STEPS) -> str:
        larger = offered("Name a model that accepts more", self.larger, self.outside)
        where = f"{steps['compare']} shows the windows. " if "compare" in steps and not larger else ""
        return f"{larger}{where}{new_conversation(steps, 'Or start' if larger else 'Start')}"


class FilesTooLargeError(ConversationTooLongError):
    """None of the files that a question names fits beside what must be sent; nothing was sent."""

    def __init__(self, model: str, tokens: int, room_tokens: int, files: Mapping[str, int]) -> None:
        """`files` are the tokens of each file; `tokens` is the size of a request with the smallest of them."""
        super().__init__(model, tokens, room_tokens, "")
        sizes = listed(f"{path} (about {size:,} tokens)" for path, size in files.items())
        self.message = (
            f"{model} has room for about {room_tokens:,} tokens of files. Too large: {sizes}. Nothing was sent."
        )

    def next_step(self, steps: Steps = NO_STEPS) -> str:
        return f"Name the lines that matter, as path:10-80. {super().next_step(steps)}"


class ProviderUnavailableError(ProviderError):
    """The provider failed, broke off the answer or could not be reached."""

    code = "PROVIDER_UNAVAILABLE"
    retryable = True

    def __init__(self, message: str, *, maybe_billed: bool = False) -> None:
        super().__init__(message)
        self.maybe_billed = maybe_billed
        self.advice = MAYBE_BILLED if maybe_billed else NOT_BILLED

    @property
    def ends_run(self) -> bool:
        return self.maybe_billed

    @property
    def is_free(self) -> bool:
        return not self.maybe_billed


class ProviderUnreachableError(ProviderUnavailableError):
    """No connection to the provider could be made."""

    @property
    def was_sent(self) -> bool:
        return False


class StreamBrokenError(ProviderUnavailableError):
    """The connection broke before the answer was complete; the run itself may have finished."""

    def __init__(self, message: str) -> None:
        super().__init__(message, maybe_billed=True)

    @property
    def ends_run(self) -> bool:
        return False


class RunLostError(ProviderUnavailableError):
    """The provider does not know the run."""

    def __init__(self, provider: str) -> None:
        super().__init__(f"{provider} no longer knows this run.", maybe_billed=True)


class ServerEndedError(ProviderUnavailableError):
    """The server that sent the question, this one or another, ended while a caller waited for the answer."""

    def __init__(self, conversation_id: str) -> None:
        super().__init__("the server that was asking this question ended before the answer came.", maybe_billed=True)
        self.keep_in(conversation_id)


class ProviderMissingError(ProviderUnavailableError):
    """The provider that has the answer is not configured here."""

    def __init__(self, provider: str, conversation_id: str) -> None:
        super().__init__(f"the question before this one was sent to {provider}, which is not configured here.")
        self.conversation_id = conversation_id
        self._provider = provider

    def next_step(self, steps: Steps = NO_STEPS) -> str:
        stop = f", or give it up with {steps['stop'].format(self.conversation_id)}" if "stop" in steps else ""
        return f"Configure {self._provider} again to fetch the answer{stop}."


class RunCancelledError(ProviderError):
    """The run was stopped on request before it had an answer."""

    code = "CANCELLED"
    advice = "What was done until then may have been billed. Ask again to retry."

    def __init__(self, provider: str) -> None:
        super().__init__(f"the {provider} run was cancelled.")

    @property
    def is_free(self) -> bool:
        return False


class CancelledUnsentError(RunCancelledError):
    """A question was stopped while it still waited for another one."""

    advice = "Nothing was sent. Ask again to retry."

    def __init__(self) -> None:
        super().__init__("")
        self.message = "the question was cancelled while it waited for another one."


class CallerGoneError(CancelledUnsentError):
    """The clients of all calls with a question were gone before it was written."""

    def __init__(self) -> None:
        super().__init__()
        self.message = "the client was gone before its question was sent."


class ProviderTimeoutError(ProviderError):
    """The program's own time limit passed before the provider answered."""

    code = "PROVIDER_TIMEOUT"
    retryable = True

    def __init__(self, provider: str, what: str, limit_seconds: float, *, was_sent: bool = True) -> None:
        super().__init__(f"{provider} did not {what} within {limit_seconds:.0f} s.")
        self._was_sent = was_sent
        self.advice = MAYBE_BILLED if was_sent else NOT_BILLED

    @property
    def ends_run(self) -> bool:
        return False

    @property
    def is_free(self) -> bool:
        return not self.was_sent

    @property
    def was_sent(self) -> bool:
        return self._was_sent


class AnswerIncompleteError(ProviderError):
    """The run ended without any text of an answer."""

    code = "ANSWER_INCOMPLETE"
    retryable = True
    advice = "Ask again, or ask a narrower question."

    @property
    def is_free(self) -> bool:
        return False
