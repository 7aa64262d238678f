"""Errors about conversations, input and the program itself."""

import math
from collections.abc import Mapping

from conversation_mcp.errors.base import NO_STEPS, ConversationMCPError, Steps, new_conversation
from conversation_mcp.text import dollars, without_keys


class ConversationNotFoundError(ConversationMCPError):
    """No conversation has this id."""

    code = "CONVERSATION_NOT_FOUND"

    def __init__(self, conversation_id: str, folder: str) -> None:
        super().__init__(f"no conversation {conversation_id} in {folder}.", conversation_id=conversation_id)

    def next_step(self, steps: Steps = NO_STEPS) -> str:
        check = f"Check the id with {steps['find']}" if "find" in steps else "Check the id"
        return f"{check}, or start one with {steps['start']}." if "start" in steps else f"{check}."


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

    def next_step(self, steps: Steps = NO_STEPS) -> str:
        wait = f", or wait for it with {steps['wait']}" if "wait" in steps else ""
        stop = f"; {steps['stop'].format(self.conversation_id)} stops it" if "stop" in steps else ""
        return f"Try again{wait}{stop}."


class RunAliveError(ConversationBusyError):
    """A provider is still working on an earlier question of the conversation."""

    def __init__(self, conversation_id: str, provider: str, doing: str, waited_seconds: float) -> None:
        super().__init__(conversation_id, waited_seconds)
        self.message = (
            f"the question before this one is still being answered by {provider} ({doing}); "
            f"waited {waited_seconds:.0f} s for it."
        )


class ServerEndingError(ConversationMCPError):
    """The server is ending and accepts no more questions."""

    code = "SERVER_ENDING"
    retryable = True
    advice = "Ask again when a server is running."

    def __init__(self) -> None:
        super().__init__("this server is ending. The question was not sent.")


class EarlierTurnFailedError(ConversationMCPError):
    """The same call was made before and failed; its caller never heard of it."""

    advice = "That is the outcome of this same call, made earlier. Ask again to retry."

    def __init__(self, code: str, message: str, conversation_id: str) -> None:
        super().__init__(message)
        self.keep_in(conversation_id)
        self.code = code


class WordsStayError(ConversationMCPError):
    """Words that were only on this machine would leave it, and the call does not name their recipient."""

    code = "FORBIDDEN"

    def __init__(self, recipient: str, what: str, how: str = "", conversation_id: str | None = None) -> None:
        """Make the error; `how` replaces the advice to name the recipient on the call."""
        message = f"{what} would go to {recipient}, which is outside of this machine. Nothing was sent."
        super().__init__(message, conversation_id=conversation_id)
        self._recipient, self._how = recipient, how
        self.models_here: tuple[str, ...] = ()
        """Models on this machine that could answer instead."""
        self.is_chat_only = False
        """Whether these models can only chat, though the call asked for something else."""

    def next_step(self, steps: Steps = NO_STEPS) -> str:
        name = f": {steps['name'].format(self._recipient)}" if "name" in steps else ""
        how = self._how or f"To send it there, name it on the call{name}"
        chat = f" and ask by {steps.get('chat', 'chat')}" if self.is_chat_only else ""
        here = f" To keep it here, name {' or '.join(self.models_here)}{chat}." if self.models_here else ""
        return f"{how}; CONVERSATION_MCP_SHARING=always allows it for everything.{here}"


class BudgetReachedError(ConversationMCPError):
    """The day's cost has reached its limit."""

    code = "BUDGET_REACHED"
    advice = "Wait for the next day (UTC), or raise CONVERSATION_MCP_MAX_COST_USD_PER_DAY."

    def __init__(
        self, spent_usd: float, limit_usd: float, estimated_usd: float = 0.0, planned_usd: float = 0.0
    ) -> None:
        planned = f" this would cost about {dollars(planned_usd)} more," if planned_usd else ""
        estimate = f" {dollars(estimated_usd)} of it by an estimate," if estimated_usd else ""
        super().__init__(
            f"{dollars(spent_usd)} were spent today,{estimate}{planned} the limit is {dollars(limit_usd)}. "
            "Nothing was sent."
        )


class RateLimitedError(ConversationMCPError):
    """An owner asks for more than one owner may."""

    code = "RATE_LIMITED"
    retryable = True

    def __init__(self, limit: str, retry_after_seconds: float) -> None:
        super().__init__(f"the limit of {limit} is reached. Nothing was sent.")
        self.retry_after_seconds = max(1, math.ceil(retry_after_seconds))
        self.advice = f"Ask again in {self.retry_after_seconds} s."

    def data(self, steps: Steps = NO_STEPS) -> dict[str, object]:
        return {**super().data(steps), "retryAfterSeconds": self.retry_after_seconds}


class ForbiddenError(ConversationMCPError):
    """Something belongs to somebody else."""

    code = "FORBIDDEN"


class StorageLimitReachedError(ConversationMCPError):
    """The conversations of an owner take as much room as they may."""

    code = "STORAGE_LIMIT_REACHED"
    advice = "Remove conversations for good, in the trash too, or ask whoever runs this server for more room."

    def __init__(self, size_bytes: int, limit_bytes: int) -> None:
        super().__init__(
            f"your conversations take {size_bytes:,} bytes, the limit is {limit_bytes:,}. Nothing was sent."
        )


class FilesystemError(ConversationMCPError):
    """A folder or file cannot be read or written."""

    code = "FILESYSTEM_ERROR"
    retryable = True
    advice = "Nothing was changed. Check the folder, its permissions and the free space, then try again."

    def __init__(self, path: str, problem: str, conversation_id: str | None = None) -> None:
        super().__init__(f"{path}: {problem}.", conversation_id=conversation_id)


class DatabaseError(FilesystemError):
    """The database of the conversations cannot be used."""

    advice = "Nothing was changed. Check that the database runs and can be reached, then try again."


class CopyDiffersError(FilesystemError):
    """A copy of a conversation was read back, and it is not what was written."""

    advice = "Delete the copy, and copy it again."

    def __init__(self, path: str, conversation_id: str) -> None:
        super().__init__(path, "the copy differs from its original", conversation_id)


class SchemaError(DatabaseError):
    """The tables of the database are not those that this version of the program needs."""

    retryable = False
    advice = "Nothing was changed."

    def __init__(self, path: str, present: int, needed: int) -> None:
        found = f"have version {present}" if present else "are missing"
        way = "use a newer version of the program" if present > needed else "they must be migrated first"
        super().__init__(path, f"the tables {found}, and this program needs version {needed}; {way}")
        self._is_old = present <= needed

    def next_step(self, steps: Steps = NO_STEPS) -> str:
        """Return that nothing was changed, and what brings old tables up to date."""
        way = f" Run {steps['migrate']}." if self._is_old and "migrate" in steps else ""
        return f"{self.advice}{way}"


class TurnLostError(DatabaseError):
    """The turn was taken over by another process, because this one was not heard of for long."""

    retryable = False
    advice = "Nothing was changed. Look at the conversation before you ask again."

    def __init__(self, path: str, conversation_id: str) -> None:
        super().__init__(path, "another process has taken over the turn of this one", conversation_id)


class ConversationClosedError(ConversationMCPError):
    """A message was to be logged in a completed conversation."""

    code = "CONVERSATION_CLOSED"
    advice = "Nothing was stored. Take it out of the archive to go on with it, or open another one."

    def __init__(self, conversation_id: str, ended_at: str) -> None:
        super().__init__(f"{conversation_id} was completed at {ended_at}.", conversation_id=conversation_id)


class IndexNotErasedError(FilesystemError):
    """Conversations cannot be removed for good, because their words cannot be erased from the index."""

    advice = "Nothing was removed for good. Remove that folder, which is created again, then try again."


class IdTakenError(FilesystemError):
    """A conversation cannot be restored, because another one has its id now."""

    retryable = False
    advice = "Nothing was changed. Delete the one that is there now first, or leave this one in the trash."

    def __init__(self, path: str, conversation_id: str) -> None:
        super().__init__(path, "there is a conversation already", conversation_id)


class Argument(str):
    """The name of an argument within a message, as it is on the wire."""

    __slots__ = ()


class InvalidInputError(ConversationMCPError):
    """An argument, option or setting is not valid.

    A message that names arguments comes in pieces (`Argument`), because they may have other names where it is shown.
    `field` is the argument at fault, if any; the display adds it if the message does not name it.
    """

    code = "VALIDATION_ERROR"

    def __init__(self, *pieces: str, field: str | None = None) -> None:
        super().__init__("".join(pieces))
        self._pieces = pieces
        self.field = field or next((piece for piece in pieces if isinstance(piece, Argument)), None)

    def message_with(self, names: Mapping[str, str]) -> str:
        """Return the message with its arguments renamed as the mapping says."""
        if self.message != without_keys("".join(self._pieces)):  # changed since, such as by a provider's `Guard`
            return self.message
        named = (names.get(piece, piece) if isinstance(piece, Argument) else piece for piece in self._pieces)
        return without_keys("".join(named))


class TurnLimitReachedError(ConversationMCPError):
    """The conversation has as many turns as MAX_CONVERSATION_TURNS allows."""

    code = "TURN_LIMIT_REACHED"

    def __init__(self, conversation_id: str, limit: int) -> None:
        super().__init__(
            f"{conversation_id} has reached {limit} turns, the limit set by MAX_CONVERSATION_TURNS. Nothing was sent.",
            conversation_id=conversation_id,
        )

    def next_step(self, steps: Steps = NO_STEPS) -> str:
        if "continue" not in steps:
            return new_conversation(steps)
        how = steps["continue"].format(self.conversation_id)
        return f"Continue it in a new conversation, to which its messages are sent along: {how}."


class InternalError(ConversationMCPError):
    """A bug; the log has its traceback under the reference."""

    code = "INTERNAL_ERROR"
    advice = "The server's log on stderr has the details under that reference."

    def __init__(self, reference: str) -> None:
        super().__init__(f"something unexpected went wrong (reference {reference}).")
