"""How to go on in a conversation, so that whoever does as told asks the one who answered last."""

from dataclasses import dataclass

from conversation_mcp.app import App
from conversation_mcp.records.models import Conversation
from conversation_mcp.turns.kept import MODES, last_asked

FOLLOW_UPS = ("search_followup", "deep_research_followup", "chat")


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


async def way_on(tool: str | None, provider: str | None, model: str | None, app: App) -> Way:
    """Return how to go on after an answer: by the tools that its provider can serve, after a chat by a chat."""
    built = await app.providers.named(provider)
    on = [name for name in FOLLOW_UPS if name in app.tools and (built is None or MODES[name] in built.abilities)]
    if tool == "chat" and "chat" in on:
        on = ["chat"]
    return Way(tuple(on), model)


async def way_on_in(conversation: Conversation, app: App) -> Way:
    """Return how to go on in a stored conversation."""
    asked = last_asked(conversation)
    if asked is None:
        return Way(tuple(name for name in FOLLOW_UPS if name in app.tools))
    return await way_on(asked.tool, asked.provider, asked.model, app)
