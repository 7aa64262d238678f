"""What all errors that users read have in common."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from conversation_mcp.text import without_keys

Step = Literal["start", "find", "read", "wait", "fetch", "stop", "compare", "check", "name", "chat"]
"""What can be done next: start, find or read a conversation, wait for, fetch or stop an answer, and so on."""
Steps = Mapping[Step, str]
"""What whoever shows an error calls the steps that can be taken there; `{}` stands for what one is taken with."""
NO_STEPS: Steps = {}


def new_conversation(steps: Steps, start: str = "Start") -> str:
    """Return the advice to begin anew."""
    opener = f" with {steps['start']}" if "start" in steps else ""
    return f"{start} a new conversation{opener}."


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
        """Say that this conversation holds the question that was asked."""
        self.conversation_id, self._is_kept = conversation_id, True

    @property
    def message(self) -> str:
        """What happened, without keys that somebody put where they do not belong."""
        return self._message

    @message.setter
    def message(self, message: str) -> None:
        self._message = without_keys(message)

    @property
    def was_sent(self) -> bool:
        """Whether a provider may have got the words."""
        return False

    def next_step(self, steps: Steps = NO_STEPS) -> str:
        """Return the sentence that says what to do next, by what the steps are called that can be taken."""
        del steps
        return self.advice

    def data(self, steps: Steps = NO_STEPS) -> dict[str, object]:
        """Return the same for programs: code, message, whether it may work later, and the conversation."""
        found = {"conversationId": self.conversation_id} if self.conversation_id else {}
        return {"code": self.code, "message": self._told(steps), **found, "retryable": self.retryable}

    def sentence(self, steps: Steps = NO_STEPS) -> str:
        """Return the code, what happened and what to do next."""
        return f"{self.code}: {self._told(steps)}"

    def _told(self, steps: Steps) -> str:
        told = f"{self.message} {self.next_step(steps)}".rstrip()
        if self._is_kept and str(self.conversation_id) not in told:
            told += f" The question is kept in {self.conversation_id}."
        return told
