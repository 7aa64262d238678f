"""Answers on their way out: given to the connection piece by piece, and refused where too much is left unread."""

import json
from collections.abc import Iterable
from typing import Any, cast

from mcp.types import INTERNAL_ERROR
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from conversation_mcp.server.http.room import Room

PIECE_BYTES = 64 * 1024
"""As much is given to the connection at once, so that no more of an answer is held twice. Up to this it always goes."""
RETRY_SECONDS = 5
REFUSED = f"Too many answers are being read at once; ask again in {RETRY_SECONDS} s"


class OutgoingAnswer:
    """Passes on the response to one request. What is large takes room until the client has read most of it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, room: Room, owner: str, body: bytes) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._room = room
        self._owner = owner
        self._body = body
        self._start: Message | None = None

    async def pass_on(self, message: Message) -> bool:
        """Pass on a message of the response; tell whether it went as it is, and not a refusal in its place."""
        if message["type"] == "http.response.start" and not _is_stream(message["headers"]):
            self._start = message  # until it is known whether there is room for what follows
            return True
        content: bytes = message.get("body", b"")
        if len(content) <= PIECE_BYTES:
            await self._begin()
            await self._send(message)
            return True
        with self._room.of(self._owner) as take:
            if take(len(content)):
                await self._begin()
                await self._in_pieces(content, message)
                return True
        await self._refuse(message)
        return False

    async def _begin(self) -> None:
        start, self._start = self._start, None
        if start is not None:
            await self._send(start)

    async def _in_pieces(self, content: bytes, message: Message) -> None:
        *before, last = range(0, len(content), PIECE_BYTES)
        for at in before:
            await self._send({"type": message["type"], "body": content[at : at + PIECE_BYTES], "more_body": True})
        await self._send({**message, "body": content[last:]})

    async def _refuse(self, message: Message) -> None:
        if self._start is not None:
            headers = {"retry-after": str(RETRY_SECONDS), "cache-control": "no-store"}
            await PlainTextResponse(REFUSED, 503, headers)(self._scope, self._receive, self._send)
            return
        error = {"code": INTERNAL_ERROR, "message": REFUSED}
        told = json.dumps({"jsonrpc": "2.0", "id": _id_in(self._body), "error": error})
        await self._send({**message, "body": f"event: message\r\ndata: {told}\r\n\r\n".encode()})


def _is_stream(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name == b"content-type" and value.startswith(b"text/event-stream") for name, value in headers)


def _id_in(body: bytes) -> object:
    """Return the id of the request in a body that was served."""
    request = json.loads(body)
    return cast("dict[str, Any]", request).get("id") if isinstance(request, dict) else None
