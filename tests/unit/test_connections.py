"""A connection to the server over HTTP, below the protocol."""

import asyncio
import socket

import anyio
import uvicorn
from starlette.responses import PlainTextResponse
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


class TwoConnections(BoundedConnection):
    """One connection of a server that serves two at once."""

    most_connections = 2


async def test_a_connection_that_was_there_is_served_when_further_ones_are_refused() -> None:
    state = ServerState()
    configuration = uvicorn.Config(PlainTextResponse("served"), lifespan="off")

    def connection() -> TwoConnections:
        return TwoConnections(configuration, state, {})

    async def status(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        return head.partition(b"HTTP/1.1 ")[2][:3]

    with socket.create_server(("127.0.0.1", 0)) as listener, anyio.fail_after(30):
        listener.setblocking(False)
        server = await asyncio.get_running_loop().create_server(connection, sock=listener)
        async with server:
            clients: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
            for wanted in (b"200", b"200", b"503"):
                clients.append(await asyncio.open_connection(*listener.getsockname()))
                assert await status(*clients[-1]) == wanted
            assert await status(*clients[0]) == b"200"
            for _, writer in clients:
                writer.close()
                await writer.wait_closed()
