"""The MCP side of the program; what starts it is found here."""

from conversation_mcp.server.clients import load_client_limits
from conversation_mcp.server.server import ConversationServer
from conversation_mcp.server.stdio import serve_stdio

__all__ = ["ConversationServer", "load_client_limits", "serve_stdio"]
