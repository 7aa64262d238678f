"""Who got the words of a conversation, as its file tells."""

from collections.abc import Mapping

from conversation_mcp.models import Conversation, Message, PendingTurn
from conversation_mcp.providers.sides import is_service
from conversation_mcp.providers.whereabouts import DOCUMENTS, HERE, NOWHERE, OUTSIDE, Side, Whereabouts

SERVICES: Mapping[str, str] = {
    "perplexity-mcp-server": "perplexity",
    "chatgpt": "chatgpt",
    "claude": "claude",
    "claude-code": "claude",
    "gemini-takeout": "gemini-app",
}
"""Who gave the answers of an import, by its format. The answers of others may have been given on this machine."""

Recipients = Mapping[str, Side]


def whereabouts_of(conversation: Conversation, sides: Recipients) -> Whereabouts:
    """Return who has the words: answers tell it, and so do questions that were sent and not answered.

    A file that tells nothing at all, as one that was written by hand, counts as being nowhere yet. `sides` says where
    the providers are that are configured.
    """
    found = NOWHERE
    pending = (conversation.pending_turn,) if conversation.pending_turn else ()
    for said in (*conversation.messages, *(conversation.unanswered_turns or ()), *pending):
        for name, side in recipients_of(said, conversation, sides).items():
            found = found.also_at(name, side)
    return found


def recipients_of(said: Message | PendingTurn, conversation: Conversation, sides: Recipients) -> Recipients:
    """Return who got the words for this answer or question.

    Files of earlier versions tell only who answered. Where it is today counts then; one that is not configured any
    more, and is no known service, counts as having been on this machine: better ask once too often.
    """
    if said.sent_to is not None:
        return {name: OUTSIDE if side == OUTSIDE else HERE for name, side in said.sent_to.items()}
    if isinstance(said, Message) and said.role != "assistant":
        return {}
    if said.provider is not None:
        return {said.provider: OUTSIDE if is_service(said.provider) else sides.get(said.provider, HERE)}
    if isinstance(said, Message) and conversation.imported is not None:
        source = conversation.imported.source
        return {SERVICES.get(source, source): OUTSIDE if source in SERVICES else HERE}
    return {}


def with_recipients(conversation: Conversation) -> tuple[Message, ...]:
    """Return the messages, each answer with who got the words: for a copy that loses where it was imported from."""
    if conversation.imported is None:
        return conversation.messages
    return tuple(
        message.model_copy(update={"sent_to": dict(known)})
        if message.sent_to is None and (known := recipients_of(message, conversation, {}))
        else message
        for message in conversation.messages
    )


def passages_in(conversation: Conversation) -> int:
    """Return how many passages of the user's documents the answers quote."""
    return sum(
        source.path is not None
        for message in conversation.messages
        if message.provider == DOCUMENTS
        for source in message.sources or ()
    )
