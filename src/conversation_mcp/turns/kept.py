"""The model that a follow-up keeps: that of the conversation's last turn of the same kind."""

from collections.abc import Mapping

from conversation_mcp.models import Conversation
from conversation_mcp.providers.base import Mode

MODES: Mapping[str, Mode] = {
    "search": "search",
    "search_followup": "search",
    "deep_research": "deep_research",
    "deep_research_followup": "deep_research",
    "chat": "chat",
}


def kept_model(conversation: Conversation, mode: Mode) -> str | None:
    """Return the model that was named or chosen for the last turn of this mode; None where it took the default.

    A level, such as xhigh, counts for its own question only: it says how much to spend, not whom to ask.
    """
    messages = conversation.messages
    for question, reply in zip(messages[-2::-1], messages[::-1], strict=False):
        if question.role == "user" and reply.role == "assistant" and MODES.get(question.tool or "") == mode:
            return None if reply.requested_model == reply.preset else reply.requested_model
    return None
