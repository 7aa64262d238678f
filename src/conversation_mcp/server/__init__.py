"""The MCP server: the protocol over stdio, and tools, resources, prompts and tasks on top of the turn engine.

The package exports what starts a server.
"""

from conversation_mcp.server.clients import load_client_limits
from conversation_mcp.server.server import ConversationServer
from conversation_mcp.server.stdio import serve_stdio

__all__ = ["ConversationServer", "load_client_limits", "serve_stdio"]
