"""The server process. Only this module and the self-check of `doctor` import the SDK."""

import sys
from collections.abc import Mapping

from conversation_mcp.cli.output.terminal import say
from conversation_mcp.cli.setup import settings_from


def serve_until_closed(options: Mapping[str, object]) -> None:
    """Serve MCP over stdio until the client closes stdin or a signal arrives."""
    settings = settings_from(options).settings
    if options.get("tools"):  # a wrong name on the command line ends here; the server would only tell its client
        from conversation_mcp.tools.catalog import check_set

        for name in settings.tools:
            check_set(name)
    if sys.stdin.isatty():
        say(
            "conversation-mcp serves MCP over stdio and waits for a client; stop it with Ctrl-C. "
            "conversation-mcp --help shows the other commands."
        )
    import anyio

    from conversation_mcp.bootstrap import open_app
    from conversation_mcp.logs import configure_logging
    from conversation_mcp.server import ConversationServer, load_client_limits, serve_stdio

    configure_logging(settings.log_level)
    server = ConversationServer(settings, lambda: open_app(settings), load_client_limits())
    anyio.run(serve_stdio, server)
