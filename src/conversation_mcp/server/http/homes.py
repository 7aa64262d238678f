"""The homes over HTTP: a server over the conversations of each owner who calls."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple

import anyio
from anyio.abc import TaskGroup
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp

from conversation_mcp.app import App
from conversation_mcp.homes import IDLE_SECONDS, MOST_OPEN, Homes
from conversation_mcp.server.http.metrics import Now
from conversation_mcp.server.server import ConversationServer
from conversation_mcp.server.veil import Veil

OpenServer = Callable[[str], Awaitable[tuple[ConversationServer, StreamableHTTPSessionManager]]]
"""Makes the server of an owner, and what speaks HTTP for it."""


class ServedHome(NamedTuple):
    """The server of one owner, and what answers its requests."""

    server: ConversationServer
    handler: ASGIApp

    @property
    def is_busy(self) -> bool:
        """Whether it runs a turn, or holds an answer that is in no file."""
        return self.server.app is not None and self.server.app.is_busy()


class ServedHomes:
    """Opens the home of an owner for a request, and closes homes in which nothing happens any more."""

    def __init__(
        self,
        open_server: OpenServer,
        tasks: TaskGroup,
        *,
        idle_seconds: float = IDLE_SECONDS,
        most_open: int = MOST_OPEN,
    ) -> None:
        self._open_server = open_server
        self._homes: Homes[ServedHome] = Homes(
            self._served, lambda home: home.is_busy, tasks, idle_seconds=idle_seconds, most_open=most_open
        )
        self.run = self._homes.run
        self.close = self._homes.close

    def __len__(self) -> int:
        """Return how many homes are open."""
        return len(self._homes)

    def running_count(self) -> int:
        """Return how many turns run in all homes."""
        return sum(len(home.server.app.running) for home in self._homes.opened() if home.server.app)

    def now(self) -> Now:
        """Return how many turns run and wait in all homes, and how many homes are open."""
        apps = [home.server.app for home in self._homes.opened() if home.server.app]
        waiting = sum(app.running.queued_count() for app in apps)
        return Now(self.running_count() - waiting, waiting, len(self._homes))

    @asynccontextmanager
    async def of(self, owner: str) -> AsyncGenerator[ASGIApp]:
        """Yield what serves the owner's requests; raises as `Homes.of`."""
        async with self._homes.of(owner) as home:
            yield home.handler

    @asynccontextmanager
    async def visit(self, owner: str) -> AsyncGenerator[tuple[App, Veil]]:
        """Yield the owner's services, and what hides this machine from visitors, likewise."""
        async with self._homes.of(owner) as home:
            if home.server.app is None or home.server.veil is None:
                raise RuntimeError("a home closed before it was open")
            yield home.server.app, home.server.veil

    async def finish(self) -> None:
        """Let the turns of all homes finish or be handed over within their grace period, and end what listens."""
        async with anyio.create_task_group() as tasks:
            for home in self._homes.opened():
                if app := home.server.app:
                    tasks.start_soon(app.running.finish, app.settings.ending_grace_seconds)
                    home.server.end_listening()

    def _served(self, owner: str) -> AbstractAsyncContextManager[ServedHome]:
        return _open(self._open_server, owner)


@asynccontextmanager
async def _open(open_server: OpenServer, owner: str) -> AsyncGenerator[ServedHome]:
    server, manager = await open_server(owner)
    async with manager.run():
        yield ServedHome(server, manager.handle_request)
