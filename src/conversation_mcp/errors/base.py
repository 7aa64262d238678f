"""What all errors that users read have in common."""

from typing import ClassVar

Tools = frozenset[str]
NO_TOOLS: Tools = frozenset()


def stopping(conversation_id: str | None, tools: Tools) -> str:
    """Return how a question that is being answered is stopped."""
    return "cancel_turn" if "cancel_turn" in tools else f"`conversation-mcp cancel {conversation_id}`"


class ConversationMCPError(Exception):
    """Something a user can act on; `message` says what happened, `next_step` what to do."""

    code: str
    retryable: ClassVar[bool] = False
    keeps_question: ClassVar[bool] = False
    """Whether a conversation that it names holds the question that was asked."""
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
        sentence = f"{self.code}: {self.message} {self.next_step(tools)}".rstrip()
        if self.keeps_question and self.conversation_id and self.conversation_id not in sentence:
            sentence += f" The question is kept in {self.conversation_id}."
        return sentence
