"""The command `view`: shows the conversations in a browser."""

import webbrowser
from typing import Annotated

import typer

from conversation_mcp.cli.options import LogsDir, Owner
from conversation_mcp.cli.output.terminal import put, say
from conversation_mcp.cli.selection.completion import complete_ids
from conversation_mcp.cli.selection.ids import resolve
from conversation_mcp.cli.setup import finder_of, settings_from
from conversation_mcp.errors import InvalidInputError

LARGEST_PORT = 65535


def view(
    *,
    conversation_id: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="The conversation to open: its id, the start of it, last, or /words in it. Default: the list.",
            autocompletion=complete_ids,
            show_default=False,
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=LARGEST_PORT, help="The port; 0 chooses a free one.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address and open nothing.")] = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Show the conversations in a browser.

    A page on this machine, which nobody else can open: its address holds a token. It lasts until Ctrl-C. Everything on
    it can also be done by other commands.
    """
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    path = f"/c/{resolve(finder_of(settings), conversation_id)}" if conversation_id else "/"
    from conversation_mcp.garbage import collecting_later

    with collecting_later():
        import anyio

        from conversation_mcp.logs import configure_logging
        from conversation_mcp.web.window import serve_window

    configure_logging(settings.log_level)

    def announce(address: str) -> None:
        put(address)
        if no_browser or not webbrowser.open(address):
            say("Open this address in a browser; Ctrl-C ends it.")
        else:
            say("It is open in your browser; Ctrl-C ends it.")

    try:
        anyio.run(serve_window, settings, port, path, announce)
    except OSError as error:
        raise InvalidInputError(f"port {port} cannot be used: {error.strerror}.") from None
