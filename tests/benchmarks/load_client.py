"""Many clients at once over kept connections, written so that they take as little of the processor as they can."""

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any

VERSION = "2026-07-28"
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
OK = 200


@dataclass
class Answered:
    """What came of requests."""

    seconds: list[float] = field(default_factory=list[float])
    errors: list[str] = field(default_factory=list[str])
    lost_turns: int = 0

    @property
    def count(self) -> int:
        """How many requests were answered or failed."""
        return len(self.seconds) + len(self.errors)

    def quantile(self, share: float) -> float:
        """Return the milliseconds within which that share was answered."""
        ordered = sorted(self.seconds)
        return 1_000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Connection:
    """One kept connection to a server."""

    def __init__(self, port: int, headers: str = "") -> None:
        self._port = port
        self._headers = headers
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, tool: str, arguments: dict[str, Any], headers: str = "") -> tuple[int, bytes]:
        """Call a tool; return the status and the body as it came."""
        params = {"name": tool, "arguments": arguments, "_meta": META}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\n"
            f"MCP-Protocol-Version: {VERSION}\r\nMCP-Method: tools/call\r\nMCP-Name: {tool}\r\n"
            f"Content-Length: {len(body)}\r\n{self._headers}{headers}\r\n"
        )
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(head.encode() + body)
        status, _, rest = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").partition("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in rest.split("\r\n") if line)
        if "content-length" in fields:
            told = await reader.readexactly(int(fields["content-length"]))
        else:
            told = await _chunks(reader)
        return int(status.split(" ")[1]), told

    def close(self) -> None:
        """Close the connection; the next call makes another one."""
        if self._streams:
            self._streams[1].close()
            self._streams = None


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    told = b""
    while size := int(await reader.readline(), 16):
        told += (await reader.readexactly(size + 2))[:-2]
    await reader.readline()
    return told


def result_of(status: int, body: bytes) -> dict[str, Any]:
    """Return the result of a tool; raise if there is none."""
    lines = [line[6:] for line in body.split(b"\r\n") if line.startswith(b"data: {")] or [body]
    answer: dict[str, Any] = json.loads(lines[-1]) if status == OK else {}
    result: dict[str, Any] = answer.get("result", {})
    if result.get("isError", not result):
        raise ValueError(f"{status} {body[:300]!r}")
    return result


async def converse(connection: Connection, owner: str, topic: str, answered: Answered) -> str:
    """Start a conversation, follow it up three times, and read its history: five requests. Return its id.

    Each needs a topic of its own: the same question of one owner at the same time is one call.
    """
    headers = f"Conversation-Owner: {owner}\r\n" if owner else ""

    async def asked(tool: str, **arguments: str) -> dict[str, Any]:
        began = time.perf_counter()
        try:
            data = result_of(*await connection.call(tool, arguments, headers))["structuredContent"]
        except Exception as error:
            answered.errors.append(str(error))
            raise
        answered.seconds.append(time.perf_counter() - began)
        return data

    turns, named = 0, {"conversationId": ""}
    try:
        named = {"conversationId": (await asked("search", query=f"Why {topic}?"))["conversationId"]}
        turns = 1
        for number in range(3):
            await asked("search_followup", query=f"And then, {number}?", **named)
            turns += 1
        history = await asked("get_conversation_history", **named)
        roles = [message["role"] for message in history["messages"]]
        answered.lost_turns += turns - roles.count("assistant")
    except Exception:  # noqa: BLE001 -- counted above; the connection may be unusable now
        connection.close()
    return named["conversationId"]


async def read(connection: Connection, conversation_id: str, answered: Answered) -> None:
    """Read the history of a conversation five times."""
    for _ in range(5):
        began = time.perf_counter()
        result_of(*await connection.call("get_conversation_history", {"conversationId": conversation_id}))
        answered.seconds.append(time.perf_counter() - began)


async def echo(connection: Connection, answered: Answered) -> None:
    """Ask a bare server five times."""
    for number in range(5):
        began = time.perf_counter()
        result_of(*await connection.call("echo", {"text": f"And then, {number}?"}))
        answered.seconds.append(time.perf_counter() - began)
