"""The command `serve`: runs the MCP server."""

from typing import Annotated

import typer

from conversation_mcp.cli.options import Documents, LogsDir, Owner, ToolSets
from conversation_mcp.cli.server_process import serve_until_closed
from conversation_mcp.errors import InvalidInputError

Repeated = list[str] | None
OPTIONS = {"allowed_hosts": "allowed-host", "allowed_origins": "allowed-origin", "metrics_port": "metrics-port"}


def serve(
    *,
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP instead of stdio, for many clients.")
    ] = False,
    host: Annotated[
        str | None, typer.Option(metavar="HOST", help="The address to listen on. Default: 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65_535, metavar="PORT", help="The port, 0 for a free one. Default: 8765.")
    ] = None,
    path: Annotated[str | None, typer.Option(metavar="PATH", help="The path of the URL. Default: /mcp.")] = None,
    allowed_host: Annotated[
        Repeated, typer.Option(metavar="NAME", help="A name by which clients reach the server; may be repeated.")
    ] = None,
    allowed_origin: Annotated[
        Repeated, typer.Option(metavar="ORIGIN", help="An origin whose pages may call the server; may be repeated.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=64, metavar="N", help="How many processes share the port. Default: 1.")
    ] = None,
    view: Annotated[
        bool, typer.Option("--view", help="Also serve the viewer, to each owner behind their token.")
    ] = False,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65_535,
            metavar="PORT",
            help="Serve figures for Prometheus at /metrics on this port, without tokens; further workers use the next.",
        ),
    ] = None,
    logs_dir: LogsDir = None,
    owner: Owner = None,
    documents: Documents = None,
    tools: ToolSets = None,
) -> None:
    """Serve MCP over stdio, as clients start it, or over HTTP.

    Over HTTP, the address is printed on stderr, and /health and /ready tell whether the server lives and can work.
    Without tokens only this machine can be served, and everybody on it then has the same conversations.
    """
    sources = {"logs_dir": logs_dir, "owner": owner, "documents": documents or None, "tools": tools}
    given: dict[str, object] = {
        "host": host,
        "port": port,
        "path": path,
        "allowed_hosts": tuple(allowed_host or ()),
        "allowed_origins": tuple(allowed_origin or ()),
        "workers": workers,
        "view": view or None,
        "metrics_port": metrics_port,
    }
    chosen = {name: value for name, value in given.items() if value not in (None, ())}
    if http and owner:
        raise InvalidInputError("--owner is for stdio; over HTTP the token of each request tells the owner.")
    if http:
        from conversation_mcp.cli.http_process import serve_over_http

        serve_over_http(sources, chosen)
    elif chosen:
        raise InvalidInputError(f"--{OPTIONS.get(name := next(iter(chosen)), name)} needs --http.")
    else:
        serve_until_closed(sources)
