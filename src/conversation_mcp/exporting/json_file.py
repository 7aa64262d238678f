"""JSON: the file itself with all its fields, and what its questions name. Several conversations are an array."""

from base64 import b64encode

from conversation_mcp.exporting.base import NO_CONTENTS, Contents, ExportFormat, Frame
from conversation_mcp.records.codec import encode
from conversation_mcp.records.layout import FILE_CONTENTS
from conversation_mcp.records.models import Conversation


def render(conversation: Conversation, contents: Contents = NO_CONTENTS) -> str:
    """Return the content of conversation.json; contents are a field of their own, texts as text, others as base64."""
    if contents:
        written = {name: _written(data) for name, data in contents.items()}
        conversation = conversation.changed(**{FILE_CONTENTS: written})
    return encode(conversation).decode()


def _written(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}


JSON = ExportFormat("json", ".json", render, Frame("[\n", ",\n", "]\n"))
