"""The body of a request: read whole before anybody is troubled with it, within a size and a time."""

from typing import NamedTuple

import anyio
from starlette.types import Message, Receive

from conversation_mcp.server.http.callers import Denial
from conversation_mcp.server.http.room import Take

BODY_SECONDS = 30.0
FREE_BYTES = 64 * 1024
"""A body that is not larger always has room: what one owner sends must not keep another from asking."""


class Body(NamedTuple):
    """A body that is there, followed by whatever else the connection brings."""

    content: bytes
    rest: Receive

    def replay(self) -> Receive:
        """Return a function that yields the body once, and after that waits for the end of the connection."""
        left: list[Message] = [{"type": "http.request", "body": self.content, "more_body": False}]

        async def receive() -> Message:
            return left.pop() if left else await self.rest()

        return receive


async def read_body(
    receive: Receive, declared_bytes: str | None, max_bytes: int, take: Take, seconds: float = BODY_SECONDS
) -> Body | Denial | None:
    """Return the body, or the answer to one that is too large, too slow or too much; None if the client has left."""
    too_large = Denial(413, "Request body too large", {"connection": "close"})
    if _is_over(declared_bytes, max_bytes):
        return too_large
    pieces: list[bytes] = []
    size = 0
    with anyio.move_on_after(seconds):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > max_bytes:
                return too_large
            if size > FREE_BYTES and not take(len(pieces[-1])):
                return Denial(503, "Too much is being sent at once", {"retry-after": "5", "connection": "close"})
            if not message.get("more_body", False):
                return Body(b"".join(pieces), receive)
    return Denial(408, "Request body too slow", {"connection": "close"})


def _is_over(declared_bytes: str | None, max_bytes: int) -> bool:
    """Tell whether a length is declared that is too large; its digits are counted first, there may be thousands."""
    if declared_bytes is None or not (declared_bytes.isascii() and declared_bytes.isdigit()):
        return False
    return len(declared_bytes) > len(str(max_bytes)) or int(declared_bytes) > max_bytes
