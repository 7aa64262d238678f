"""How to continue a conversation: the tools and the model that reach the provider of the last answer."""

from typing import NamedTuple

from conversation_mcp.app import App
from conversation_mcp.records.models import Conversation
from conversation_mcp.records.modes import Mode
from conversation_mcp.turns.kept import last_asked


class Way(NamedTuple):
    """The tools for the next question, and the model to name in the call."""

    tools: tuple[str, ...]
    model: str | None = None

    @property
    def names(self) -> str:
        """The tools as part of a sentence; empty if none is enabled."""
        return " or ".join(self.tools)

    @property
    def naming(self) -> str:
        """The model as the last argument in a sentence; empty if none was named or chosen."""
        return f" and model {self.model}" if self.model else ""

    def sentence(self, conversation_id: str) -> str:
        """Return the sentence that says how to continue; empty if no tool is enabled."""
        return f"Follow up: {self.names} with conversationId {conversation_id}{self.naming}." if self.tools else ""


async def way_on(mode: Mode | None, provider: str | None, model: str | None, app: App) -> Way:
    """Return how to continue after an answer: with the tools that its provider can serve, after a chat with chat."""
    built = await app.providers.named(provider)  # None also for one that is no longer configured
    able = [tool for tool in app.tools if tool.follows and (built is None or tool.mode in built.abilities)]
    chats = [tool for tool in able if tool.mode == mode == "chat"]
    return Way(tuple(tool.name for tool in chats or able), model)


async def way_on_in(conversation: Conversation, app: App) -> Way:
    """Return how to continue a stored conversation."""
    asked = last_asked(conversation)
    if asked is None:
        return await way_on(None, None, None, app)
    return await way_on(app.mode_of(asked.tool), asked.provider, asked.model, app)
