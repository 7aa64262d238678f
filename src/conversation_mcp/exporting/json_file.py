"""JSON: the file itself with all its fields. Several conversations are an array."""

from conversation_mcp.exporting.base import ExportFormat, Frame
from conversation_mcp.records.codec import encode
from conversation_mcp.records.models import Conversation


def render(conversation: Conversation) -> str:
    """Return the content of conversation.json."""
    return encode(conversation).decode()


JSON = ExportFormat("json", ".json", render, Frame("[\n", ",\n", "]\n"))
