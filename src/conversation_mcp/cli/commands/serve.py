"""The command `serve`: runs the MCP server."""

from conversation_mcp.cli.options import Documents, LogsDir, ToolSets
from conversation_mcp.cli.server_process import serve_until_closed


def serve(*, logs_dir: LogsDir = None, documents: Documents = None, tools: ToolSets = None) -> None:
    """Serve MCP over stdio, as clients start it."""
    serve_until_closed({"logs_dir": logs_dir, "documents": documents or None, "tools": tools})
