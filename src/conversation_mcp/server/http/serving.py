"""A server process over HTTP, from its socket to its graceful end."""

import logging
import os
import signal
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import uvicorn
from anyio import to_thread
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from platformdirs import user_cache_path
from starlette.types import ASGIApp

from conversation_mcp.app import App
from conversation_mcp.bootstrap import SharedServices, open_home
from conversation_mcp.clock import utc_now
from conversation_mcp.disk.faults import reason_of
from conversation_mcp.server.clients import load_client_limits
from conversation_mcp.server.http.access_log import AccessLog
from conversation_mcp.server.http.access_notes import AccessNotes
from conversation_mcp.server.http.acting import acting_for_user, may_act_for_of
from conversation_mcp.server.http.callers import Authenticator
from conversation_mcp.server.http.front import MAX_BODY_BYTES, NO_ROUTES, Front
from conversation_mcp.server.http.homes import ServedHomes
from conversation_mcp.server.http.metrics import Metrics
from conversation_mcp.server.http.options import HttpOptions, security_of
from conversation_mcp.server.http.readiness import Readiness
from conversation_mcp.server.http.receipts import receipt_of
from conversation_mcp.server.http.strictness import StrictConnection
from conversation_mcp.server.http.witness import ServerWitness
from conversation_mcp.server.server import ConversationServer
from conversation_mcp.server.veil import Veil, places_of
from conversation_mcp.settings import Settings
from conversation_mcp.sources import APP_NAME, config_path
from conversation_mcp.stores.catalog import open_audit, open_finder, open_store
from conversation_mcp.tools.catalog import LOG, AnyTool, tools_of

logger = logging.getLogger(__name__)

BACKLOG = 2_048
MAX_HEAD_BYTES = 64 * 1024
KEPT_ALIVE_SECONDS = 75
"""Longer than proxies keep an idle connection, which would else send a request into one that is just being closed."""
ANSWERING_SECONDS = 2.0
"""How long an ending server waits for requests whose turns have been handed over."""
UNSENT_BYTES = 64 * 1024
"""As much of what a client does not take waits for each connection in the system, which would else hold megabytes."""
ENDING_SECONDS = 10
"""How long it waits for clients to read what they were sent."""


class Entrance(NamedTuple):
    """Who may enter the server, and what it serves to everybody."""

    authenticator: Authenticator
    routes: Mapping[str, ASGIApp] = NO_ROUTES
    make_pages: "MakePages | None" = None
    """Makes the pages for browsers, if there are to be any."""


OpenVisit = Callable[[str], AbstractAsyncContextManager[tuple[App, Veil]]]
MakePages = Callable[[Authenticator, OpenVisit], ASGIApp]


OpenEntrance = Callable[[Settings], Entrance]
"""Makes the entrance of a server process; it is called in each worker, so it must be a function of a module."""


class HttpProcess(uvicorn.Server):
    """The web server, without handlers of signals: the end of this program takes more than closing connections."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals alone where this program receives them itself."""
        if os.name == "posix":
            yield
        else:
            with super().capture_signals():
                yield


def listen(options: HttpOptions) -> socket.socket:
    """Return the socket of the server, listening. Raises OSError."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    return socket.create_server((options.host, options.port), family=family, backlog=BACKLOG)


async def serve_http(
    opened: AbstractAsyncContextManager[SharedServices],
    options: HttpOptions,
    listener: socket.socket,
    entrance: Entrance,
    wait_end: Callable[[], Awaitable[None]] = anyio.sleep_forever,
    run_aside: Callable[[], Coroutine[Any, Any, None]] = anyio.sleep_forever,
) -> None:
    """Serve until SIGINT or SIGTERM comes, or `wait_end` returns; `run_aside` does the work for the background.

    Then no request is taken any more, running turns finish or are handed over as on stdio, and all files are written.
    """
    security = security_of(options)
    _bound_unsent(listener)
    async with opened as program, anyio.create_task_group() as tasks:
        metrics = Metrics()
        witness = ServerWitness(AccessLog(utc_now), metrics)
        servers = await to_thread.run_sync(HomeServers(program, security, witness).load)
        homes = ServedHomes(servers.server_of, tasks)
        metrics.look = homes.now
        readiness = Readiness(
            partial(open_store, program.settings.store_url, utc_now, encryption=program.settings.encryption)
        )
        front = Front(
            options.path,
            homes.of,
            entrance.authenticator,
            security,
            readiness.is_usable,
            routes=entrance.routes,
            pages=await to_thread.run_sync(_pages, entrance, homes),
            witness=witness,
            acting=acting_for_user if LOG in program.settings.tools else None,
            note_access=AccessNotes(await to_thread.run_sync(open_audit, program.settings.store_url, utc_now)).note,
        )
        web = HttpProcess(_configuration(front))
        if options.metrics_port is not None:
            tasks.start_soon(_serve_metrics, metrics, options.host, options.metrics_port)
        tasks.start_soon(homes.run)
        tasks.start_soon(run_aside)
        tasks.start_soon(_end_when_told, web, front, homes, wait_end)
        await web.serve([listener])
        await homes.close()
        tasks.cancel_scope.cancel()


def _bound_unsent(listener: socket.socket) -> None:
    """Bound what the system keeps for who does not read; the connections that it accepts inherit that."""
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        with suppress(OSError):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)


def _pages(entrance: Entrance, homes: ServedHomes) -> ASGIApp | None:
    return entrance.make_pages(entrance.authenticator, homes.visit) if entrance.make_pages else None


async def _serve_metrics(metrics: Metrics, host: str, port: int) -> None:
    """Serve the figures until cancelled; a port that cannot be used is a line in the log and ends nothing."""
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        logger.error("figures are not served on port %d: %s", port, reason_of(error))  # noqa: TRY400 -- says it all
        return
    web = HttpProcess(uvicorn.Config(metrics, lifespan="off", log_config=None, access_log=False, ws="none"))
    with listener:
        try:
            await web.serve([listener])
        finally:
            for server in web.servers:
                server.close()


class HomeServers:
    """Makes the server of each owner over what all share."""

    def __init__(self, program: SharedServices, security: TransportSecuritySettings, witness: ServerWitness) -> None:
        self._program = program
        self._witness = witness
        self._security = security
        self._tools: tuple[AnyTool, ...] = ()
        self._limits: Mapping[str, float] = {}

    def load(self) -> "HomeServers":
        """Read what all servers need from files; it blocks."""
        self._tools = tuple(tools_of(self._program.settings.tools, self._program.settings.workflows_dir))
        self._limits = load_client_limits()
        return self

    @asynccontextmanager
    async def _watched(self, owner: str) -> AsyncGenerator[App]:
        """Open the home of an owner, and have its turns written down."""
        async with open_home(self._program, owner, is_remote=True) as app:
            app.running.on_end.append(self._witness.note_turn)
            yield app

    async def server_of(self, owner: str) -> tuple[ConversationServer, StreamableHTTPSessionManager]:
        """Make the server of an owner, without opening anything yet."""
        settings = self._program.settings
        veil = await to_thread.run_sync(_veil, settings, owner)
        opened = partial(self._watched, owner)
        server = ConversationServer(
            settings,
            opened,
            self._limits,
            self._tools,
            veil=veil,
            may_act_for_of=may_act_for_of,
            receipt_of=receipt_of,
        )
        server.streamable_http_app(
            stateless_http=True, transport_security=self._security, max_request_body_size=MAX_BODY_BYTES
        )
        return server, server.session_manager


def _veil(settings: Settings, owner: str) -> Veil:
    store = open_finder(settings.store_url, utc_now, owner).place
    folders = (
        (Path(open_finder(settings.store_url, utc_now).place), "this server"),
        (settings.prompts_dir, "the server's prompts"),
        (settings.workflows_dir, "the server's workflows"),
        (config_path().parent, "the server's settings"),
        (user_cache_path(APP_NAME, appauthor=False), "the server's cache"),
    )
    return Veil(places_of(store, folders, settings.documents))


def _configuration(front: Front) -> uvicorn.Config:
    return uvicorn.Config(
        front,
        http=StrictConnection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEPT_ALIVE_SECONDS,
        timeout_graceful_shutdown=ENDING_SECONDS,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
    )


async def _end_when_told(
    web: HttpProcess, front: Front, homes: ServedHomes, wait_end: Callable[[], Awaitable[None]]
) -> None:
    told = anyio.Event()
    async with anyio.create_task_group() as tasks:
        if os.name == "posix":
            tasks.start_soon(_watch_signals, web, told)
        tasks.start_soon(_tell_after, wait_end, told)
        await told.wait()
        front.end()
        for server in web.servers:
            server.close()
        await homes.finish()
        with anyio.move_on_after(ANSWERING_SECONDS):
            await front.wait_answered()
        front.abandon()
        web.should_exit = True


async def _watch_signals(web: HttpProcess, told: anyio.Event) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _number in signals:
            if told.is_set():  # the second one: whoever sends it does not want to wait
                web.force_exit = web.should_exit = True
            told.set()


async def _tell_after(wait_end: Callable[[], Awaitable[None]], told: anyio.Event) -> None:
    await wait_end()
    told.set()
