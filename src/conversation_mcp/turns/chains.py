"""Chains: a conversation, and the earlier ones that it continues, whose messages are sent before its own."""

from dataclasses import dataclass

from conversation_mcp.conversations.recipients import Recipients, whereabouts_of
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.providers.whereabouts import NOWHERE
from conversation_mcp.records.links import link_of
from conversation_mcp.records.models import Conversation
from conversation_mcp.stores.base import Store

MAX_LINKS = 20


@dataclass(frozen=True)
class Chain:
    """Conversations that continue one another, the oldest first, each with the messages that count."""

    conversations: tuple[Conversation, ...]
    notices: tuple[str, ...] = ()
    """What is missing from it."""

    def holder(self, sides: Recipients) -> Conversation:
        """Return the conversation whose recipients have all words so far: the last one that was sent anywhere."""
        own = self.conversations[-1]
        if len(self.conversations) == 1:
            return own
        latest_first = reversed(self.conversations)
        return next((one for one in latest_first if whereabouts_of(one, sides) != NOWHERE), own)


async def chain_of(store: Store, conversation: Conversation) -> Chain:
    """Return the chain that ends with this conversation; an earlier one that cannot be read is missing from it."""
    found = [conversation]
    known = {conversation.conversation_id}
    while (link := link_of(found[0])) and link.conversation_id not in known:
        if len(found) > MAX_LINKS:
            return Chain(tuple(found), (f"only the last {MAX_LINKS} conversations before this one were sent along",))
        try:
            earlier = await store.load(link.conversation_id)
        except ConversationMCPError as error:
            what = f"{link.conversation_id}, which this conversation continues, was not sent along"
            return Chain(tuple(found), (f"{what}: {error.message}",))
        found.insert(0, earlier.changed(messages=earlier.messages[: link.message_count]))
        known.add(link.conversation_id)
    return Chain(tuple(found))
