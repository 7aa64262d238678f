"""The front of the server: what every request passes before any code of the protocol sees it."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple

import anyio
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.server.http.acting import STATE
from conversation_mcp.server.http.answers import OutgoingAnswer
from conversation_mcp.server.http.bodies import Body, read_body
from conversation_mcp.server.http.callers import Authenticator, Denial, Identity
from conversation_mcp.server.http.headers import ambiguity_of
from conversation_mcp.server.http.lanes import Lane, Lanes
from conversation_mcp.server.http.receipts import Receipts, peer_of
from conversation_mcp.server.http.room import Room, Take
from conversation_mcp.server.http.witness import Exchange, Witness

MAX_BODY_BYTES = 32 * 1024 * 1024
"""Room for a few images, which come as text."""
logger = logging.getLogger(__name__)

OpenHomeOf = Callable[[str], AbstractAsyncContextManager[ASGIApp]]
IsReady = Callable[[], Awaitable[bool]]
PROBES = ("/health", "/ready")
"""Paths that are asked for every few seconds."""
ENDING = Denial(503, "The server is ending", {"retry-after": "5", "connection": "close"})
TOO_MANY = Denial(429, "Too many requests of this owner at once", {"retry-after": "5", "connection": "close"})
NO_ROUTES: Mapping[str, ASGIApp] = {}


class Admitted(NamedTuple):
    """A request that may be served when its turn comes."""

    owner: str
    body: Body


class Front:
    """Checks host, origin, headers and caller, reads the body, and passes the request to the home of its owner.

    The home is chosen by who calls and nothing else, so what runs behind it has no way to another one.
    """

    def __init__(
        self,
        path: str,
        homes: OpenHomeOf,
        authenticator: Authenticator,
        security: TransportSecuritySettings,
        is_ready: IsReady,
        *,
        routes: Mapping[str, ASGIApp] = NO_ROUTES,
        pages: ASGIApp | None = None,
        max_body_bytes: int = MAX_BODY_BYTES,
        lanes: Lanes | None = None,
        witness: Witness | None = None,
        acting: Callable[[Identity, bytes], Identity] | None = None,
        note_access: Callable[[Identity, bytes], Awaitable[Denial | None]] | None = None,
    ) -> None:
        """Prepare the front.

        Args:
            path: where the protocol is served.
            homes: opens the home of an owner.
            authenticator: tells who calls.
            security: the accepted hosts and origins.
            is_ready: tells whether conversations can be read and written.
            routes: further paths that are served to everybody, such as metadata about authentication.
            pages: serves all other paths, with a gate of its own.
            max_body_bytes: the largest body.
            lanes: bounds what one owner has at work at once.
            witness: learns of each request, but not of whether the server is alive and ready.
            acting: tells as whose a request is served that names a user in its body.
            note_access: notes a request for another owner than that of its token, or tells why it is not served.
        """
        self._path = path
        self._homes = homes
        self._authenticator = authenticator
        self._security = TransportSecurityMiddleware(security)
        self._is_ready = is_ready
        self._routes = routes
        self._pages = pages
        self._max_body_bytes = max_body_bytes
        self._witness = witness
        self._acting = acting
        self._note_access = note_access
        self._receipts = Receipts()
        self._bodies = Room()
        self._answers = Room()
        self._lanes = lanes or Lanes()
        self._serving: set[anyio.CancelScope] = set()
        self._is_ending = False
        self._was_answered = anyio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        exchange, began_at = Exchange(), anyio.current_time()

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
            await send(message)
            exchange.seconds = anyio.current_time() - began_at

        try:
            answer = await self._answered(scope, receive, noted, exchange)
            if answer is not None:
                headers = {"cache-control": "no-store", **answer.headers}
                await PlainTextResponse(answer.text, answer.status, headers)(scope, receive, noted)
        finally:
            if self._witness and scope["path"] not in PROBES:
                self._witness.note(exchange, exchange.seconds or anyio.current_time() - began_at)

    def end(self) -> None:
        """Refuse requests from now on."""
        self._is_ending = True

    def abandon(self) -> None:
        """Stop answering the requests that are still open."""
        for serving in tuple(self._serving):
            serving.cancel()

    async def wait_answered(self) -> None:
        """Wait until no request is being answered."""
        while self._serving:
            self._was_answered = anyio.Event()
            await self._was_answered.wait()

    async def _answered(self, scope: Scope, receive: Receive, send: Send, exchange: Exchange) -> Denial | None:
        """Serve the request, or return how it is refused or answered in a word."""
        path: str = scope["path"]
        if path == "/health":
            return _told(scope, 200, "alive")
        if path == "/ready":
            is_ready = not self._is_ending and await self._is_ready()
            return _told(scope, 200 if is_ready else 503, "ready" if is_ready else "not ready")
        if refused := await self._checked(scope, receive):
            return refused
        if route := self._routes.get(path):
            await route(scope, receive, send)
            return None
        if path == self._path:
            return await self._identified(scope, receive, send, exchange)
        return await self._shown(scope, receive, send)

    async def _checked(self, scope: Scope, receive: Receive) -> Denial | None:
        """Return why the headers are not accepted."""
        if ambiguous := ambiguity_of(scope["headers"]):
            return Denial(400, ambiguous, {"connection": "close"})
        response = await self._security.validate_request(Request(scope, receive))
        return None if response is None else Denial(response.status_code, bytes(response.body).decode())

    async def _identified(self, scope: Scope, receive: Receive, send: Send, exchange: Exchange) -> Denial | None:
        if self._is_ending:
            return ENDING
        address = scope["client"][0] if scope.get("client") else ""
        caller = await self._authenticator.identify(scope["headers"], address)
        if isinstance(caller, Denial):
            return caller
        exchange.caller = _named(caller)
        if scope["method"] != "POST":  # there are no sessions, so nothing to listen to and nothing to end
            return Denial(405, "Method not allowed", {"allow": "POST"})
        with self._lanes.of(caller.owner) as lane, self._bodies.of(caller.owner) as take:
            if lane is None:
                return TOO_MANY
            admitted = await self._admitted(caller, scope, receive, exchange, take)
            return await self._served(admitted, scope, send, lane) if isinstance(admitted, Admitted) else admitted

    async def _admitted(
        self, caller: Identity, scope: Scope, receive: Receive, exchange: Exchange, take: Take
    ) -> Admitted | Denial | None:
        body = await read_body(receive, _header(scope["headers"], b"content-length"), self._max_body_bytes, take)
        if not isinstance(body, Body):
            return body
        exchange.body = body.content
        if self._acting:
            caller = self._acting(caller, body.content)
            exchange.caller = _named(caller)
        if self._note_access and caller.is_for_another and (denial := await self._note_access(caller, body.content)):
            return denial
        scope[STATE] = caller.may_act_for
        return Admitted(caller.owner, body)

    async def _shown(self, scope: Scope, receive: Receive, send: Send) -> Denial | None:
        if self._pages is None:
            return Denial(404, "Not found")
        if self._is_ending:
            return ENDING
        with anyio.CancelScope() as serving:
            self._serving.add(serving)
            try:
                await self._pages(scope, receive, send)
            finally:
                self._serving.discard(serving)
                self._was_answered.set()
        return None

    async def _served(self, admitted: Admitted, scope: Scope, send: Send, lane: Lane) -> Denial | None:
        owner, peer = admitted.owner, peer_of(scope)
        with anyio.CancelScope() as serving:
            self._serving.add(serving)
            try:
                async with lane.turn() as end_turn:
                    if self._is_ending:
                        return ENDING
                    if peer is not None and peer.is_lost:
                        return None
                    async with self._homes(owner) as home, self._receipts.expected(owner, scope) as receipt:
                        replay = admitted.body.replay()
                        answer = OutgoingAnswer(scope, replay, send, self._answers, owner, admitted.body.content)

                        async def received(message: Message) -> None:
                            if await answer.pass_on(message):
                                receipt.sent(message)

                        await home(scope, replay, received)
                        end_turn()
            except ConversationMCPError as error:
                logger.warning("a request cannot be served: %s", error.message)
                return Denial(503, "These conversations cannot be opened; the server's log says why")
            finally:
                self._serving.discard(serving)
                self._was_answered.set()
        return None


def _named(caller: Identity) -> str:
    """Return what the access log calls a caller: the owner, and the token if it acts for another."""
    name = caller.name or caller.owner
    return name if name.partition("/")[0] == caller.owner else f"{caller.owner} by {name}"


def _told(scope: Scope, status: int, text: str) -> Denial:
    if scope["method"] not in ("GET", "HEAD"):
        return Denial(405, "Method not allowed", {"allow": "GET, HEAD"})
    return Denial(status, text)


def _header(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> str | None:
    return next((value.decode("latin-1") for name, value in headers if name == wanted), None)
