"""Every sentence that a user can see go wrong: what happened, then what to do next."""

from collections.abc import Mapping
from typing import ClassVar

from conversation_mcp.text import dollars

Tools = frozenset[str]
NO_TOOLS: Tools = frozenset()
MAYBE_BILLED = "The call may have been billed and was not repeated. Ask again to try once more."


class ConversationMCPError(Exception):
    """Something a user can act on; `message` says what happened, `next_step` what to do."""

    code: str
    retryable: ClassVar[bool] = False
    advice: str = ""

    def __init__(self, message: str, *, conversation_id: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.conversation_id = conversation_id

    def next_step(self, tools: Tools = NO_TOOLS) -> str:
        """Return the sentence that says what to do next; it names only tools that are switched on."""
        del tools
        return self.advice

    def sentence(self, tools: Tools = NO_TOOLS) -> str:
        """Return the code, what happened and what to do next."""
        return f"{self.code}: {self.message} {self.next_step(tools)}".rstrip()


class ConversationNotFoundError(ConversationMCPError):
    """No conversation has this id."""

    code = "CONVERSATION_NOT_FOUND"

    def __init__(self, conversation_id: str, folder: str) -> None:
        super().__init__(f"no conversation {conversation_id} in {folder}.", conversation_id=conversation_id)

    def next_step(self, tools: Tools = NO_TOOLS) -> str:
        check = "Check the id with list_conversations" if "list_conversations" in tools else "Check the id"
        return f"{check}, or start one with search." if "search" in tools else f"{check}."


class ConversationCorruptedError(ConversationMCPError):
    """The file cannot be read as a conversation; it is left as it is."""

    code = "CONVERSATION_CORRUPTED"
    advice = "The file was not changed; mend it by hand or restore a copy."

    def __init__(self, path: str, problem: str, conversation_id: str | None = None) -> None:
        super().__init__(f"{path} {problem}.", conversation_id=conversation_id)


class ConversationBusyError(ConversationMCPError):
    """Another turn holds the conversation."""

    code = "CONVERSATION_BUSY"
    retryable = True

    def __init__(self, conversation_id: str, waited_seconds: float) -> None:
        super().__init__(
            f"another follow-up on {conversation_id} is still running; waited {waited_seconds:.0f} s for it.",
            conversation_id=conversation_id,
        )

    def next_step(self, tools: Tools = NO_TOOLS) -> str:
        how = "Try again"
        if "get_conversation_history" in tools:
            how += ", or wait for it with get_conversation_history and waitSeconds 50"
        stop = "cancel_turn" if "cancel_turn" in tools else f"`conversation-mcp cancel {self.conversation_id}`"
        return f"{how}; {stop} stops it."


class RunAliveError(ConversationBusyError):
    """An earlier question of the conversation is still being worked on at its provider."""

    def __init__(self, conversation_id: str, provider: str, doing: str) -> None:
        super().__init__(conversation_id, 0)
        self.message = f"the question before this one is still being answered by {provider} ({doing})."


class EarlierTurnFailedError(ConversationMCPError):
    """The same call was made before and failed; its caller never heard of it."""

    advice = "That is the outcome of this same call, made earlier. Ask again to try anew."

    def __init__(self, code: str, message: str, conversation_id: str) -> None:
        super().__init__(message, conversation_id=conversation_id)
        self.code = code


class BudgetReachedError(ConversationMCPError):
    """The day's cost is at the limit that was set."""

    code = "BUDGET_REACHED"
    advice = "Wait for the next day (UTC), or raise CONVERSATION_MCP_MAX_COST_USD_PER_DAY."

    def __init__(self, spent_usd: float, limit_usd: float) -> None:
        super().__init__(f"{dollars(spent_usd)} were spent today, the limit is {dollars(limit_usd)}. Nothing was sent.")


class FilesystemError(ConversationMCPError):
    """The folder or file cannot be read or written."""

    code = "FILESYSTEM_ERROR"
    retryable = True
    advice = "Nothing was changed. Check the folder, its permissions and the free space, then try again."

    def __init__(self, path: str, problem: str, conversation_id: str | None = None) -> None:
        super().__init__(f"{path}: {problem}.", conversation_id=conversation_id)


class InvalidInputError(ConversationMCPError):
    """An argument, option or setting is not what it must be."""

    code = "VALIDATION_ERROR"


class TurnLimitReachedError(ConversationMCPError):
    """The conversation has as many questions as MAX_CONVERSATION_TURNS allows."""

    code = "TURN_LIMIT_REACHED"

    def __init__(self, conversation_id: str, limit: int) -> None:
        super().__init__(
            f"{conversation_id} has reached {limit} turns, the limit set by MAX_CONVERSATION_TURNS.",
            conversation_id=conversation_id,
        )

    def next_step(self, tools: Tools = NO_TOOLS) -> str:
        return "Start a new conversation with search." if "search" in tools else "Start a new conversation."


class InternalError(ConversationMCPError):
    """A bug; its traceback is in the log under the reference."""

    code = "INTERNAL_ERROR"
    advice = "The server's log on stderr has the details under that reference."

    def __init__(self, reference: str) -> None:
        super().__init__(f"something unexpected went wrong (reference {reference}).")


class ProviderError(ConversationMCPError):
    """The answer engine gave no answer; what it charged all the same is in `usage`."""

    def __init__(self, message: str, *, conversation_id: str | None = None) -> None:
        super().__init__(message, conversation_id=conversation_id)
        self.usage: Mapping[str, float] = {}

    @property
    def ends_run(self) -> bool:
        """Whether the provider's run is over for certain; if not, it may still be fetched by its id."""
        return True

    @property
    def is_free(self) -> bool:
        """Whether nothing can have been billed, so that somebody else may be asked."""
        return not self.usage


class ProviderNotConfiguredError(ProviderError):
    """No provider can take the question."""

    code = "PROVIDER_NOT_CONFIGURED"


class ModelUnavailableError(ProviderError):
    """The model that was named may not be asked, or is not there."""

    code = "PROVIDER_REJECTED"
    advice = "Name another model, or leave model out. Nothing was sent."


class ProviderAuthError(ProviderError):
    """The key was refused."""

    code = "PROVIDER_AUTH"

    def __init__(self, provider: str, variable: str) -> None:
        super().__init__(f"{provider} refused the key.")
        self.advice = (
            f"Set {variable} to a key from its API console; `conversation-mcp doctor` shows where the key came from."
        )


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
        super().__init__(f"{provider} takes no more requests at the moment. Nothing was billed for this call.")
        self.retry_after_seconds = retry_after_seconds
        self.advice = f"Ask again in {retry_after_seconds or 60:.0f} s."


class ProviderRejectedError(ProviderError):
    """The provider understood the request and will not serve it."""

    code = "PROVIDER_REJECTED"

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


class ContextTooLargeError(ProviderError):
    """The conversation is more than the provider takes."""

    code = "CONTEXT_TOO_LARGE"

    def __init__(self, provider: str, *, needed_tokens: int | None = None, window_tokens: int | None = None) -> None:
        numbers = f" ({needed_tokens:,} tokens; it takes {window_tokens:,})" if needed_tokens and window_tokens else ""
        super().__init__(
            f"this conversation is larger than {provider} accepts{numbers}. Nothing was billed for this call."
        )

    def next_step(self, tools: Tools = NO_TOOLS) -> str:
        return "Start a new conversation with search." if "search" in tools else "Start a new conversation."


class ConversationTooLongError(ContextTooLargeError):
    """The conversation is more than the chosen model takes; nothing was sent."""

    def __init__(self, model: str, tokens: int, limit_tokens: int, source: str) -> None:
        super().__init__(model)
        self.message = (
            f"with this question the conversation has about {tokens:,} tokens; {model} takes about {limit_tokens:,}"
            f"{f' ({source})' if source else ''}. Nothing was sent."
        )
        self.tokens = tokens
        self.larger: tuple[str, ...] = ()
        """Models that can be asked and take it."""

    def next_step(self, tools: Tools = NO_TOOLS) -> str:
        names = " or ".join(self.larger)
        larger = f"Name a model that takes more: {names}. " if names else ""
        where = "list_models shows the windows. " if "list_models" in tools and not names else ""
        return f"{larger}{where}{'Or s' if larger else 'S'}{super().next_step(tools)[1:]}"


class ProviderUnavailableError(ProviderError):
    """The provider failed, broke off or could not be reached."""

    code = "PROVIDER_UNAVAILABLE"
    retryable = True

    def __init__(self, message: str, *, maybe_billed: bool = False) -> None:
        super().__init__(message)
        self.maybe_billed = maybe_billed
        self.advice = MAYBE_BILLED if maybe_billed else "Nothing was billed. Ask again in a while."

    @property
    def ends_run(self) -> bool:
        return self.maybe_billed

    @property
    def is_free(self) -> bool:
        return not self.maybe_billed


class StreamBrokenError(ProviderUnavailableError):
    """The connection broke before the answer was complete; the run itself may be whole."""

    def __init__(self, message: str) -> None:
        super().__init__(message, maybe_billed=True)

    @property
    def ends_run(self) -> bool:
        return False


class RunLostError(ProviderUnavailableError):
    """The provider does not know the run."""

    def __init__(self, provider: str) -> None:
        super().__init__(f"{provider} no longer knows this run.", maybe_billed=True)


class ProviderMissingError(ProviderUnavailableError):
    """The provider that has the answer is not configured in this server."""

    def __init__(self, provider: str, conversation_id: str) -> None:
        super().__init__(f"the question before this one was put to {provider}, which is not configured here.")
        self.conversation_id = conversation_id
        self.advice = (
            f"Configure {provider} again to fetch the answer, or give it up with "
            f"`conversation-mcp cancel {conversation_id}`."
        )


class RunCancelledError(ProviderUnavailableError):
    """The run was stopped before it had an answer."""

    def __init__(self, provider: str) -> None:
        super().__init__(f"the {provider} run was cancelled.", maybe_billed=True)


class ProviderTimeoutError(ProviderError):
    """Our own limit was over before the provider answered."""

    code = "PROVIDER_TIMEOUT"
    retryable = True
    advice = MAYBE_BILLED

    def __init__(self, provider: str, what: str, limit_seconds: float) -> None:
        super().__init__(f"{provider} did not {what} within {limit_seconds:.0f} s.")

    @property
    def ends_run(self) -> bool:
        return False

    @property
    def is_free(self) -> bool:
        return False


class AnswerIncompleteError(ProviderError):
    """The run ended without any text of an answer."""

    code = "ANSWER_INCOMPLETE"
    retryable = True
    advice = "Ask again, or ask a narrower question."

    @property
    def is_free(self) -> bool:
        return False
