"""A connection to the server over HTTP, below the protocol."""

import asyncio
import socket

import anyio
import uvicorn
from uvicorn.server import ServerState

from conversation_mcp.server.http.connections import BoundedConnection


async def _app(scope: object, receive: object, send: object) -> None:
    del scope, receive, send


async def test_responses_are_sent_without_waiting_for_acknowledgement_of_their_first_part() -> None:
    """The listening socket does not name its protocol, and the event loop then leaves the delay on."""
    loop = asyncio.get_running_loop()
    made: list[BoundedConnection] = []

    def connection() -> BoundedConnection:
        made.append(BoundedConnection(uvicorn.Config(_app, lifespan="off"), ServerState(), {}))
        return made[-1]

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        server = await loop.create_server(connection, sock=listener)
        async with server:
            _, writer = await asyncio.open_connection(*listener.getsockname())
            with anyio.fail_after(10):
                while not (made and made[0].client and made[0].transport.get_extra_info("socket")):
                    await anyio.lowlevel.checkpoint()
            accepted = made[0].transport.get_extra_info("socket")
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            writer.close()
            await writer.wait_closed()
