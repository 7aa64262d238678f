"""Whether a conversation fits into the window of a model; what does not is refused before anything is sent."""

from conversation_mcp.errors import ConversationTooLongError
from conversation_mcp.prompting.history import messages_to_send
from conversation_mcp.providers.base import ModeOf
from conversation_mcp.providers.choosing.chosen import Choice
from conversation_mcp.providers.estimate import estimated_tokens, tokens_of, usable
from conversation_mcp.records.models import Conversation

TRUSTED_RATIOS = (0.5, 2.0)


def needed_tokens(conversation: Conversation | None, question: str) -> int:
    """Return about how many tokens are sent with the question, in a conversation or as its first."""
    if conversation is None:
        return estimated_tokens(question)
    return tokens_of(messages_to_send(conversation, question))


class Room:
    """Judges by what plain answers have measured; `mode_of` tells which answers are plain."""

    def __init__(self, mode_of: ModeOf) -> None:
        self._mode_of = mode_of

    def require(self, conversation: Conversation, question: str, choice: Choice) -> None:
        """Raise ConversationTooLongError when the conversation with the question is more than the model takes.

        Where nobody knows the window, the provider is the judge.
        """
        limit = choice.facts.input_limit
        if limit is None:
            return
        tokens = round(needed_tokens(conversation, question) * self._measured_ratio(conversation, choice.model or ""))
        takes = usable(limit)
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
        """Return by what the estimate is off for the model, as its last plain answer in the conversation reported."""
        messages = conversation.messages
        for place in range(len(messages) - 1, 0, -1):
            reply, question = messages[place], messages[place - 1]
            reported = reply.usage.input_tokens if reply.usage else None
            if reported and model in (reply.model, reply.requested_model) and self._mode_of(question.tool) == "chat":
                before = conversation.model_copy(update={"messages": messages[: place - 1]})
                ratio = reported / max(1, tokens_of(messages_to_send(before, question.content)))
                return min(max(ratio, TRUSTED_RATIOS[0]), TRUSTED_RATIOS[1])
        return 1.0
