"""The history as strict readers require it."""

from conversation_mcp.prompting.transcript import said_in, system_text
from conversation_mcp.providers.wire.roles import merged
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.models import Conversation


def finished_turns(conversation: Conversation) -> tuple[ChatMessage, ...]:
    """Return the system text, and questions and answers that alternate and end with an answer, without files."""
    system = [ChatMessage("system", text)] if (text := system_text(conversation)) else []
    said = (ChatMessage(one.role, one.text) for one in said_in((conversation,)) if one.text.strip())
    turns = merged((*system, *said))
    while turns and turns[-1].role == "user":
        turns.pop()
    return tuple(turns)
