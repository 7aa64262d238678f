"""The base of all errors that users read."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from conversation_mcp.text import without_keys

Step = Literal[
    "start", "continue", "find", "read", "wait", "fetch", "stop", "compare", "check", "name", "chat", "migrate"
]
"""A possible next step: to start, find or read a conversation, to wait for, fetch or stop an answer, and so on."""
Steps = Mapping[Step, str]
"""The steps that can be taken where an error is shown, with their names there; `{}` stands for the object of a step."""
NO_STEPS: Steps = {}


def new_conversation(steps: Steps, start: str = "Start") -> str:
    """Return the advice to start a new conversation."""
    opener = f" with {steps['start']}" if "start" in steps else ""
    return f"{start} a new conversation{opener}."


def offered(what: str, near: Sequence[str], outside: Sequence[str]) -> str:
    """Return the sentences that name models, and apart from them those to which words would go for the first time."""
    named = f"{what}: {' or '.join(near)}. " if near else ""
    if outside:
        where = f"{'Also' if near else 'Only'} outside of this machine"
        named += f"{where}: {' or '.join(outside)}; naming one sends it there. "
    return named


class ConversationMCPError(Exception):
    """Something a user can act on; `message` says what happened, `next_step` what to do."""

    code: str
    retryable: ClassVar[bool] = False
    advice: str = ""

    def __init__(self, message: str, *, conversation_id: str | None = None) -> None:
        self.message = message
        super().__init__(self.message)
        self.conversation_id = conversation_id
        self._is_kept = False

    def keep_in(self, conversation_id: str) -> None:
        """Record that this conversation holds the question; the message then says so."""
        self.conversation_id, self._is_kept = conversation_id, True

    @property
    def message(self) -> str:
        """What happened, with misplaced keys removed."""
        return self._message

    @message.setter
    def message(self, message: str) -> None:
        self._message = without_keys(message)

    @property
    def was_sent(self) -> bool:
        """Whether a provider may have received the words."""
        return False

    def next_step(self, steps: Steps = NO_STEPS) -> str:
        """Return the sentence that says what to do next, with the names of the steps that can be taken."""
        del steps
        return self.advice

    def data(self, steps: Steps = NO_STEPS) -> dict[str, object]:
        """Return the error for programs: code, message, whether a retry may succeed, and the conversation."""
        found = {"conversationId": self.conversation_id} if self.conversation_id else {}
        return {"code": self.code, "message": self._told(steps), **found, "retryable": self.retryable}

    def sentence(self, steps: Steps = NO_STEPS) -> str:
        """Return the code, what happened and what to do next."""
        return f"{self.code}: {self._told(steps)}"

    def _told(self, steps: Steps) -> str:
        apart = "" if self.message.endswith("\n") else " "
        told = f"{self.message}{apart}{self.next_step(steps)}".rstrip()
        if self._is_kept and str(self.conversation_id) not in told:  # said once, also by errors that name it anyway
            told += f" The question is kept in {self.conversation_id}."
        return told
