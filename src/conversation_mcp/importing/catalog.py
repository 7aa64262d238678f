"""The import formats, in the order in which they are tried. A new format is a module and a line here."""

from pkgutil import resolve_name
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from conversation_mcp.importing.base import ImportFormat

IMPORT_FORMATS = {
    "librechat": "conversation_mcp.importing.formats.librechat:LIBRECHAT",
    # Before our own, whose files may have the same five fields.
    "perplexity-mcp-server": "conversation_mcp.importing.formats.earlier_server:EARLIER_SERVER",
    "conversation-mcp": "conversation_mcp.importing.formats.own:OWN",
    "chatgpt": "conversation_mcp.importing.formats.chatgpt:CHATGPT",
    "claude": "conversation_mcp.importing.formats.claude:CLAUDE",
    "openwebui": "conversation_mcp.importing.formats.openwebui:OPENWEBUI",
    "gemini-takeout": "conversation_mcp.importing.formats.gemini:GEMINI",
    "claude-code": "conversation_mcp.importing.formats.claude_code:CLAUDE_CODE",
    "sharegpt": "conversation_mcp.importing.formats.sharegpt:SHAREGPT",
    "openai-messages": "conversation_mcp.importing.formats.openai_messages:OPENAI_MESSAGES",
    "memory-server": "conversation_mcp.importing.formats.memory_server:MEMORY_SERVER",
    "basic-memory": "conversation_mcp.importing.formats.basic_memory:BASIC_MEMORY",
    "llm": "conversation_mcp.importing.formats.llm:LLM",
}


def import_formats() -> "tuple[ImportFormat, ...]":
    """Return all formats, importing their modules."""
    return tuple(cast("ImportFormat", resolve_name(target)) for target in IMPORT_FORMATS.values())
