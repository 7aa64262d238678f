"""The gate before every page: hosts, origins, the token, and the headers that confine a page."""

import hashlib
import hmac
from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import Request, cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from conversation_mcp.web.visits import OpenVisit, Visits

TOKEN = "token"  # noqa: S105 -- the name of a parameter
MAX_BODY_BYTES = 4_000_000
ENTER = "/enter"
DOOR = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    '<title>Conversations</title><main><h1>Conversations</h1><p>{}</p><form method="post" action="/enter">'
    '<label>Token <input name="token" type="password" required></label> <button>Enter</button></form></main></html>'
)
FORM_PURPOSE = b"forms of the viewer"
READING, SENDING = frozenset({"GET", "HEAD"}), "POST"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "same-origin",  # with `no-referrer`, browsers send their own forms with the origin `null`
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache, private",
}


class Gate:
    """Passes on only what a browser that has the token sends from these pages."""

    def __init__(
        self,
        app: ASGIApp,
        visits: Visits,
        open_visit: OpenVisit,
        is_own: Callable[[str], bool],
        *,
        is_secure: bool = False,
    ) -> None:
        """Guard the app.

        Args:
            app: what is behind the gate; it finds `visit` and `form_token` in its scope's state.
            visits: who may enter.
            open_visit: opens the services of whoever is inside.
            is_own: tells whether a value of the header Host is of this server, not of another site in disguise.
            is_secure: whether the pages are reached over HTTPS only.
        """
        self._app = app
        self._visits = visits
        self._open_visit = open_visit
        self._is_own = is_own
        self._is_secure = is_secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def confined(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        passed = await self._passed(scope, receive)
        if isinstance(passed, Response):
            await passed(scope, receive, confined)
            return
        async with self._open_visit(passed) as visit:
            scope["state"]["visit"] = visit
            await self._app(scope, receive, confined)

    async def _passed(self, scope: Scope, receive: Receive) -> str | Response:
        """Return the owner whose conversations the visitor may see, or what to answer to who may not pass."""
        if refusal := self._refusal(scope):
            return refusal
        address = scope["client"][0] if scope.get("client") else ""
        if entered := await self._entering(scope, receive, address):
            return entered
        headers = Headers(scope=scope)
        cookie = cookie_parser(headers.get("cookie", "")).get(self._visits.cookie, "")
        owner = await self._visits.owner(cookie, address)
        if owner is None:
            said = self._visits.invitation
            return HTMLResponse(DOOR.format(said), 401) if self._visits.takes_tokens else PlainTextResponse(said, 401)
        # Only who holds the cookie can compute it, and pages of other sites can read neither.
        token = hmac.new(cookie.encode(), FORM_PURPOSE, hashlib.sha256).hexdigest()
        scope.setdefault("state", {})["form_token"] = token
        return owner

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host, method = headers.get("host", ""), scope["method"]
        if not self._is_own(host):
            return PlainTextResponse("This address is not served here.\n", 421)
        if method not in READING and method != SENDING:
            return PlainTextResponse("Only GET and POST are answered.\n", 405, {"allow": "GET, HEAD, POST"})
        return _form_refusal(headers, host) if method == SENDING else None

    async def _entering(self, scope: Scope, receive: Receive, address: str) -> Response | None:
        """Return the answer to who brings a token, in the address or in the form at the door."""
        query, method = QueryParams(scope["query_string"]), scope["method"]
        if method in READING and TOKEN in query:
            rest = urlencode([(name, value) for name, value in query.multi_items() if name != TOKEN])
            # A path that begins with two slashes would lead to another host.
            place = "/" + scope["path"].lstrip("/\\") + (f"?{rest}" if rest else "")
            return await self._entered(query[TOKEN], place, address)
        if method == SENDING and scope["path"] == ENTER and self._visits.takes_tokens:
            form = await Request(scope, receive).form(max_files=0, max_fields=1)
            return await self._entered(str(form.get(TOKEN, "")).strip(), "/", address)
        return None

    async def _entered(self, token: str, place: str, address: str) -> Response:
        """Trade the token for a cookie, and keep it out of addresses, which histories and logs remember."""
        cookie = await self._visits.enter(token, address)
        if cookie is None:
            return PlainTextResponse("The token is not right, or no longer valid.\n", 401)
        answer = RedirectResponse(place, 303)
        answer.set_cookie(self._visits.cookie, cookie, httponly=True, samesite="strict", secure=self._is_secure)
        return answer


def _form_refusal(headers: Headers, host: str) -> Response | None:
    length = headers.get("content-length", "")
    if urlsplit(headers.get("origin", "")).netloc != host:
        return PlainTextResponse("The form comes from another site.\n", 403)
    if not (length.isascii() and length.isdecimal()):
        return PlainTextResponse("The length of the form is missing.\n", 411)
    return PlainTextResponse("The form is too large.\n", 413) if int(length) > MAX_BODY_BYTES else None
