"""The server as a process. The only part of the command line, beside the self-check, that imports the SDK."""

import anyio

from conversation_mcp.bootstrap import open_app
from conversation_mcp.logs import configure_logging
from conversation_mcp.server import ConversationServer, load_client_limits, serve_stdio
from conversation_mcp.settings import Settings


def serve_until_closed(settings: Settings) -> None:
    """Serve MCP over stdio until the client is gone or a signal comes."""
    configure_logging(settings.log_level)
    server = ConversationServer(settings, lambda: open_app(settings), load_client_limits())
    anyio.run(serve_stdio, server)
