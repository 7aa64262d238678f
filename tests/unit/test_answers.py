"""An answer on its way out: in pieces, and only as many large ones at once as there is room for."""

import json
from contextlib import ExitStack

import anyio
import pytest
from starlette.types import Message, Scope

from conversation_mcp.server.http.answers import PIECE_BYTES, REFUSED, OutgoingAnswer
from conversation_mcp.server.http.room import Room

JSON, STREAM = (b"content-type", b"application/json"), (b"content-type", b"text/event-stream; charset=utf-8")
REQUEST = json.dumps({"jsonrpc": "2.0", "id": "seven", "method": "tools/call"}).encode()
LARGE = bytes(range(256)) * 1_000
SCOPE: Scope = {"type": "http", "method": "POST", "headers": []}


async def never() -> Message:
    await anyio.sleep_forever()
    return {}


class Client:
    """Takes what it is sent; with a gate, it reads on only when that is open."""

    def __init__(self, room: Room, owner: str = "alice", gate: anyio.Event | None = None) -> None:
        self.sent: list[Message] = []
        self._gate = gate
        self._answer = OutgoingAnswer(SCOPE, never, self._take, room, owner, REQUEST)

    async def _take(self, message: Message) -> None:
        self.sent.append(message)
        if self._gate and message.get("body"):
            await self._gate.wait()

    async def is_given(self, content: bytes, header: tuple[bytes, bytes] = JSON) -> bool:
        """Answer with that content; tell whether it went, and not a refusal."""
        await self._answer.pass_on({"type": "http.response.start", "status": 200, "headers": [header]})
        return await self._answer.pass_on({"type": "http.response.body", "body": content, "more_body": False})

    @property
    def status(self) -> int:
        return self.sent[0]["status"]

    @property
    def content(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES, len(LARGE)])
async def test_an_answer_arrives_whole_in_pieces_that_are_not_large(size: int) -> None:
    client = Client(Room())
    assert await client.is_given(LARGE[:size])
    assert client.content == LARGE[:size]
    assert max(len(message.get("body", b"")) for message in client.sent) <= PIECE_BYTES
    assert [message.get("more_body", False) for message in client.sent[1:]].count(False) == 1
    assert not client.sent[-1]["more_body"]


async def test_the_start_of_a_stream_does_not_wait_for_its_first_event() -> None:
    client = Client(Room())
    answer = client._answer  # pyright: ignore[reportPrivateUsage]
    await answer.pass_on({"type": "http.response.start", "status": 200, "headers": [STREAM]})
    assert client.status == 200


async def test_large_answers_that_are_not_read_leave_no_room_for_more_of_the_same_owner() -> None:
    room, gate = Room(all_bytes=10 * len(LARGE), owner_bytes=2 * len(LARGE)), anyio.Event()
    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(Client(room, gate=gate).is_given, LARGE)
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        one_more, small, other = Client(room), Client(room), Client(room, "bob")
        assert not await one_more.is_given(LARGE)
        assert (one_more.status, one_more.content) == (503, REFUSED.encode())
        assert (b"retry-after", b"5") in one_more.sent[0]["headers"]
        assert await small.is_given(LARGE[:PIECE_BYTES])
        assert await other.is_given(LARGE)
        gate.set()
    assert await Client(room).is_given(LARGE)


async def test_a_stream_without_room_for_its_answer_ends_with_an_error_of_the_protocol() -> None:
    room = Room(all_bytes=len(LARGE))
    with ExitStack() as stack:
        assert stack.enter_context(room.of("bob"))(len(LARGE))
        client = Client(room)
        assert not await client.is_given(LARGE, STREAM)
    event, data = client.content.decode().split("\r\n")[:2]
    told = json.loads(data.removeprefix("data: "))
    assert (event, told["id"], told["error"]["message"]) == ("event: message", "seven", REFUSED)
    assert not client.sent[-1]["more_body"]


async def test_what_is_alone_has_room_however_large_it_is_and_a_cancelled_one_gives_it_back() -> None:
    room, gate = Room(all_bytes=1, owner_bytes=1), anyio.Event()
    with anyio.CancelScope() as given_up:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Client(room, gate=gate).is_given, LARGE)
            await anyio.lowlevel.checkpoint()
            assert not await Client(room, "bob").is_given(LARGE)
            given_up.cancel()
    assert await Client(room, "bob").is_given(LARGE)
