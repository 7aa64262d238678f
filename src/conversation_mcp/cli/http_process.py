"""The server process over HTTP. Only this module imports what serves it."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from conversation_mcp.cli.output.terminal import say
from conversation_mcp.cli.server_process import checked_settings, work_aside
from conversation_mcp.disk.faults import reason_of
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.garbage import collecting_later

if TYPE_CHECKING:
    from conversation_mcp.server.http.options import HttpOptions
    from conversation_mcp.server.http.serving import OpenEntrance

UNGUARDED = (
    "Warning: there are no tokens, so everybody on this machine can read and ask everything here, as {owner!r}. "
    "conversation-mcp token add NAME makes the first one; from then on every request needs one."
)


def serve_over_http(options: Mapping[str, object], given: Mapping[str, object]) -> None:
    """Serve MCP over HTTP until a signal comes; `given` are the fields of `HttpOptions` that are not the usual ones."""
    with collecting_later():
        settings = checked_settings(options)

        from conversation_mcp.logs import configure_logging
        from conversation_mcp.owners import LOCAL
        from conversation_mcp.server.http.entrance import is_locked, open_entrance, open_locked_entrance
        from conversation_mcp.server.http.options import HttpOptions, check_options
        from conversation_mcp.server.http.serving import listen
        from conversation_mcp.server.http.workers import serve_alone, serve_together

    http = HttpOptions(**cast("dict[str, Any]", dict(given)))
    needs_tokens = is_locked(settings)
    check_options(http, has_tokens=needs_tokens)
    configure_logging(settings.log_level)
    try:
        listener = listen(http)
    except OSError as error:
        raise InvalidInputError(
            f"cannot listen on {http.host} port {http.port}: {reason_of(error)}. Choose another one with --port."
        ) from None
    with listener:
        say(f"conversation-mcp serves MCP at {http.address(listener.getsockname()[1])}; stop it with Ctrl-C.")
        if not needs_tokens:
            say(UNGUARDED.format(owner=LOCAL))
        serve = serve_alone if http.workers == 1 else serve_together
        entrance = open_locked_entrance if needs_tokens else open_entrance
        serve(settings, http, listener, _with_pages(entrance, http) if http.view else entrance, work_aside)


def _with_pages(open_entrance: "OpenEntrance", http: "HttpOptions") -> "OpenEntrance":
    from conversation_mcp.cli.http_pages import entrance_with_pages

    return partial(entrance_with_pages, open_entrance, is_secure=not http.is_local)
