"""What all errors that users read have in common."""

from typing import ClassVar

from conversation_mcp.text import without_keys

Tools = frozenset[str]
NO_TOOLS: Tools = frozenset()


def stopping(conversation_id: str | None, tools: Tools) -> str:
    """Return how a question that is being answered is stopped."""
    return "cancel_turn" if "cancel_turn" in tools else f"`conversation-mcp cancel {conversation_id}`"


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

    def next_step(self, tools: Tools = NO_TOOLS) -> str:
        """Return the sentence that says what to do next; it names only tools that are switched on."""
        del tools
        return self.advice

    def data(self, tools: Tools = NO_TOOLS) -> dict[str, object]:
        """Return the same for programs: code, message, whether it may work later, and the conversation."""
        message = self.sentence(tools).removeprefix(f"{self.code}: ")
        found = {"conversationId": self.conversation_id} if self.conversation_id else {}
        return {"code": self.code, "message": message, **found, "retryable": self.retryable}

    def sentence(self, tools: Tools = NO_TOOLS) -> str:
        """Return the code, what happened and what to do next."""
        sentence = f"{self.code}: {self.message} {self.next_step(tools)}".rstrip()
        if self._is_kept and str(self.conversation_id) not in sentence:
            sentence += f" The question is kept in {self.conversation_id}."
        return sentence
