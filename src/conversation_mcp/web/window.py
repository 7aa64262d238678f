"""The viewer of this machine: a server on a free port of the loopback, and a browser that looks at it."""

import socket
from collections.abc import Callable
from contextlib import nullcontext

import uvicorn
from anyio import to_thread

from conversation_mcp.bootstrap import open_app
from conversation_mcp.settings import Settings
from conversation_mcp.web.gate import Gate
from conversation_mcp.web.site import build_site
from conversation_mcp.web.visits import LocalVisits, Visit

HOST = "127.0.0.1"
ENDING_SECONDS = 2


async def serve_window(settings: Settings, port: int, path: str, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; `announce` gets the address with the token once it answers.

    Args:
        settings: the settings of the program.
        port: the port; 0 chooses a free one.
        path: the page that the address opens.
        announce: shows the address to the user.

    Raises:
        OSError: the port is taken.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen()
        port = listening.getsockname()[1]
        visits = LocalVisits(port, settings.owner)
        async with open_app(settings) as app:
            site = await to_thread.run_sync(build_site)
            own = {f"{HOST}:{port}", f"localhost:{port}"}
            gate = Gate(site, visits, lambda owner: nullcontext(Visit(owner, app)), own.__contains__)
            config = uvicorn.Config(
                gate,
                log_config=None,
                access_log=False,
                lifespan="off",
                server_header=False,
                timeout_graceful_shutdown=ENDING_SECONDS,
            )
            announce(f"http://{HOST}:{port}{path}{'&' if '?' in path else '?'}token={visits.token}")
            await uvicorn.Server(config).serve([listening])
