"""The server process. Only this module and the self-check of `doctor` import the SDK."""

import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from conversation_mcp.cli.output.terminal import say
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.garbage import collecting_later

if TYPE_CHECKING:
    from conversation_mcp.settings import Settings


def checked_settings(options: Mapping[str, object]) -> "Settings":
    """Return the settings of a server; a wrong name on the command line ends here, not at the first client."""
    settings = settings_from(options).settings
    if options.get("tools"):
        from conversation_mcp.tools.catalog import check_set

        for name in settings.tools:
            check_set(name)
    return settings


def serve_until_closed(options: Mapping[str, object]) -> None:
    """Serve MCP over stdio until the client closes stdin or a signal arrives."""
    with collecting_later():
        settings = checked_settings(options)
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
        server = ConversationServer(
            settings, lambda: open_app(settings, work_aside=partial(work_aside, settings)), load_client_limits()
        )
    anyio.run(serve_stdio, server)


async def work_aside(settings: "Settings", owner: str) -> None:
    """Make the vectors that an owner's texts lack, in a process of its own."""
    from conversation_mcp.cli.vector_process import make_vectors_aside

    await make_vectors_aside(settings, owner)
