"""The import formats, in the order in which they are tried. Adding one is a module and a line here."""

from pkgutil import resolve_name
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from conversation_mcp.importing.base import ImportFormat

IMPORT_FORMATS = {
    "librechat": "conversation_mcp.importing.librechat:LIBRECHAT",
    "perplexity-mcp-server": "conversation_mcp.importing.earlier_server:EARLIER_SERVER",
    "conversation-mcp": "conversation_mcp.importing.own:OWN",
    "chatgpt": "conversation_mcp.importing.chatgpt:CHATGPT",
    "claude": "conversation_mcp.importing.claude:CLAUDE",
    "openwebui": "conversation_mcp.importing.openwebui:OPENWEBUI",
    "gemini-takeout": "conversation_mcp.importing.gemini:GEMINI",
    "claude-code": "conversation_mcp.importing.claude_code:CLAUDE_CODE",
    "sharegpt": "conversation_mcp.importing.sharegpt:SHAREGPT",
    "openai-messages": "conversation_mcp.importing.openai_messages:OPENAI_MESSAGES",
    "llm": "conversation_mcp.importing.llm:LLM",
}


def import_formats() -> "tuple[ImportFormat, ...]":
    """Return every format; their modules are imported now."""
    return tuple(cast("ImportFormat", resolve_name(target)) for target in IMPORT_FORMATS.values())
