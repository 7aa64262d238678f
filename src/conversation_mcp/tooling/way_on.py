"""How to go on in a conversation, so that whoever does as told asks the one who answered last."""

from dataclasses import dataclass

from conversation_mcp.app import App
from conversation_mcp.providers.base import Mode
from conversation_mcp.records.models import Conversation
from conversation_mcp.turns.kept import last_asked


@dataclass(frozen=True)
class Way:
    """The tools that take the next question, and the model to name with them."""

    tools: tuple[str, ...]
    model: str | None = None

    @property
    def names(self) -> str:
        """The tools as a sentence has them; empty when none is switched on."""
        return " or ".join(self.tools)

    @property
    def naming(self) -> str:
        """What is to be said of the model, after other arguments; empty when none was named or chosen."""
        return f" and model {self.model}" if self.model else ""

    def sentence(self, conversation_id: str) -> str:
        """Return the sentence that says how to go on; empty when no tool is switched on."""
        return f"Follow up: {self.names} with conversationId {conversation_id}{self.naming}." if self.tools else ""


async def way_on(mode: Mode | None, provider: str | None, model: str | None, app: App) -> Way:
    """Return how to go on after an answer: by the tools that its provider can serve, after a chat by a chat."""
    built = await app.providers.named(provider)
    able = [tool for tool in app.tools if tool.follows and (built is None or tool.mode in built.abilities)]
    chats = [tool for tool in able if tool.mode == mode == "chat"]
    return Way(tuple(tool.name for tool in chats or able), model)


async def way_on_in(conversation: Conversation, app: App) -> Way:
    """Return how to go on in a stored conversation."""
    asked = last_asked(conversation)
    if asked is None:
        return await way_on(None, None, None, app)
    return await way_on(app.mode_of(asked.tool), asked.provider, asked.model, app)
