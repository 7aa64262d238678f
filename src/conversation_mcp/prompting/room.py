"""The check that a conversation fits into a model's window, before anything is sent."""

from conversation_mcp.errors import ConversationTooLongError
from conversation_mcp.prompting.history import messages_to_send
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.estimate import estimated_tokens, most_tokens_of, tokens_of, usable
from conversation_mcp.records.models import Conversation
from conversation_mcp.records.modes import ModeOf

TRUSTED_RATIOS = (0.5, 2.0)
"""How far a reported number of tokens may correct the estimate, down and up."""


def needed_tokens(conversation: Conversation | None, question: str) -> int:
    """Return the estimated tokens of a request with the question, in the conversation or as its first."""
    if conversation is None:
        return estimated_tokens(question)
    return tokens_of(messages_to_send(conversation, question))


class Room:
    """Checks sizes by an estimate that plain answers correct; `mode_of` says which are plain.

    A search counts the pages that it read as input, too, so only the usage of chat tells the size of the messages.
    """

    def __init__(self, mode_of: ModeOf) -> None:
        self._mode_of = mode_of

    def require(self, conversation: Conversation, question: str, choice: Choice) -> None:
        """Raise ConversationTooLongError if the conversation with the question exceeds the model's window.

        If the window is unknown, the provider decides.
        """
        limit = choice.facts.input_limit
        if limit is None:
            return
        takes = usable(limit)
        messages = messages_to_send(conversation, question)
        if most_tokens_of(messages) * TRUSTED_RATIOS[1] <= takes:
            return  # most conversations are small, and counting by the pieces of a text is slow
        tokens = round(tokens_of(messages) * self._measured_ratio(conversation, choice.model or ""))
        if tokens > takes:
            name = choice.name or choice.provider.name
            raise ConversationTooLongError(name, tokens, takes, choice.facts.source)

    def has(self, conversation: Conversation, question: str, choice: Choice) -> bool:
        """Tell whether the conversation with the question fits."""
        try:
            self.require(conversation, question, choice)
        except ConversationTooLongError:
            return False
        return True

    def _measured_ratio(self, conversation: Conversation, model: str) -> float:
        """Return the factor by which the model's last plain answer in the conversation corrects the estimate."""
        messages = conversation.messages
        for place in range(len(messages) - 1, 0, -1):
            reply, question = messages[place], messages[place - 1]
            reported = reply.usage.input_tokens if reply.usage else None
            if reported and model in (reply.model, reply.requested_model) and self._mode_of(question.tool) == "chat":
                before = conversation.model_copy(update={"messages": messages[: place - 1]})
                ratio = reported / max(1, tokens_of(messages_to_send(before, question.content)))
                return min(max(ratio, TRUSTED_RATIOS[0]), TRUSTED_RATIOS[1])
        return 1.0
