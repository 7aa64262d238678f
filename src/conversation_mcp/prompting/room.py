"""Whether a conversation fits into the window of a model; what does not is refused before anything is sent."""

from conversation_mcp.errors import ConversationTooLongError
from conversation_mcp.models import Conversation
from conversation_mcp.prompting.estimate import RESERVE, estimated_tokens, measured_ratio, tokens_of
from conversation_mcp.prompting.history import messages_to_send
from conversation_mcp.providers.resolving import Choice


def needed_tokens(conversation: Conversation | None, question: str) -> int:
    """Return about how many tokens are sent with the question, in a conversation or as its first."""
    if conversation is None:
        return estimated_tokens(question)
    return tokens_of(messages_to_send(conversation, question))


def require_room(conversation: Conversation, question: str, choice: Choice) -> None:
    """Raise ConversationTooLongError when the conversation with the question is more than the model takes.

    Where nobody knows the window, the provider is the judge.
    """
    limit = choice.facts.input_limit
    if limit is None:
        return
    tokens = round(needed_tokens(conversation, question) * measured_ratio(conversation, choice.model or ""))
    takes = int(limit * (1 - RESERVE))
    if tokens > takes:
        name = choice.name or choice.provider.name
        raise ConversationTooLongError(name, tokens, takes, choice.facts.source)


def has_room(conversation: Conversation, question: str, choice: Choice) -> bool:
    """Tell whether the conversation with the question fits."""
    try:
        require_room(conversation, question, choice)
    except ConversationTooLongError:
        return False
    return True
