"""MCP over stdio: tools, resources, prompts, tasks; results and errors in the forms of the protocol.

`lines.py` and `wire.py` read and write the client's bytes, `calls.py` runs tools, `delivery.py` notes what the client
has read, `updates.py` tells of changes, and `stdio.py` ends the server cleanly.
"""

from conversation_mcp.server.clients import load_client_limits
from conversation_mcp.server.server import ConversationServer
from conversation_mcp.server.stdio import serve_stdio

__all__ = ["ConversationServer", "load_client_limits", "serve_stdio"]
