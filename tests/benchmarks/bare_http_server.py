"""A bare echo server on the same SDK, stateless over HTTP. Prints its port as the first line."""

import socket
import sys

import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer


def echo(text: str) -> str:
    """Return the text."""
    return text


async def main() -> None:
    """Serve until killed."""
    server = MCPServer("bare", log_level="WARNING")
    server.add_tool(echo)
    app = server.streamable_http_app(stateless_http=True)
    # The protocol is named, as web servers that bind themselves do: only then are responses sent without delay.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(2_048)
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        config = uvicorn.Config(app, http="h11", log_level="warning", access_log=False, timeout_keep_alive=75)
        await uvicorn.Server(config).serve([listener])


if __name__ == "__main__":
    anyio.run(main)
