"""JSON: the file itself, every field of it. Several are an array."""

from conversation_mcp.exporting.base import ExportFormat, Frame
from conversation_mcp.records.codec import encode
from conversation_mcp.records.models import Conversation


def render(conversation: Conversation) -> str:
    """Return what stands in conversation.json."""
    return encode(conversation).decode()


JSON = ExportFormat("json", ".json", render, Frame("[\n", ",\n", "]\n"))
