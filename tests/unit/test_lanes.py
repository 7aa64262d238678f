"""However much an owner asks at once, another one does not wait for it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import anyio
import pytest
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from conversation_mcp.server.http.callers import Denial, HeaderLines, Identity
from conversation_mcp.server.http.front import Front
from conversation_mcp.server.http.lanes import Lane, Lanes
from conversation_mcp.server.http.receipts import CONNECTION

NEVER = 3_600.0


class Work:
    """Requests whose beginning is counted, and which are over when they are let."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ends: dict[str, anyio.Event] = {}

    async def do(self, lane: Lane, name: str) -> None:
        self.ends[name] = anyio.Event()
        async with lane.turn():
            self.begun.append(name)
            await self.ends[name].wait()


def lane_of(lanes: Lanes, owner: str) -> Lane:
    with lanes.of(owner) as lane:
        assert lane is not None
        return lane


async def test_the_requests_of_an_owner_are_begun_in_order_as_earlier_ones_end() -> None:
    work, lane = Work(), lane_of(Lanes(at_work=2, share_seconds=NEVER), "alice")
    async with anyio.create_task_group() as tasks:
        for name in "abcd":
            tasks.start_soon(work.do, lane, name)
            await anyio.wait_all_tasks_blocked()
        assert work.begun == ["a", "b"]
        for ended, begun in (("b", "abc"), ("a", "abcd"), ("c", "abcd"), ("d", "abcd")):
            work.ends[ended].set()
            await anyio.wait_all_tasks_blocked()
            assert work.begun == list(begun)


async def test_another_owner_does_not_wait() -> None:
    lanes, work = Lanes(at_work=1, share_seconds=NEVER), Work()
    with lanes.of("alice") as hers, lanes.of("bob") as his:
        assert hers
        assert his
        async with anyio.create_task_group() as tasks:
            for name in ("a1", "a2", "a3"):
                tasks.start_soon(work.do, hers, name)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(work.do, his, "b")
            await anyio.wait_all_tasks_blocked()
            assert work.begun == ["a1", "b"]
            tasks.cancel_scope.cancel()


async def test_what_takes_longer_than_its_share_lets_the_next_one_begin_once() -> None:
    work, lane = Work(), lane_of(Lanes(at_work=1, share_seconds=0), "alice")
    async with anyio.create_task_group() as tasks:
        for name in "ab":
            tasks.start_soon(work.do, lane, name)
        with anyio.fail_after(30):
            while work.begun != ["a", "b"]:
                await anyio.lowlevel.checkpoint()
        for name in "ab":
            work.ends[name].set()
    full = lane_of(Lanes(at_work=1, share_seconds=NEVER), "alice")
    async with full.turn() as end, anyio.create_task_group() as tasks:
        for name in "cd":
            tasks.start_soon(work.do, full, name)
        await anyio.wait_all_tasks_blocked()
        end()
        end()
        await anyio.wait_all_tasks_blocked()
        assert work.begun[2:] == ["c"]
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("is_free_first", [True, False])
async def test_a_request_that_is_given_up_takes_no_turn(*, is_free_first: bool) -> None:
    work, lane, wish = Work(), lane_of(Lanes(at_work=1, share_seconds=NEVER), "alice"), anyio.CancelScope()

    async def given_up() -> None:
        with wish:
            await work.do(lane, "b")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work.do, lane, "a")
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(given_up)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(work.do, lane, "c")
        await anyio.wait_all_tasks_blocked()
        if is_free_first:  # its turn comes in the moment in which it is given up
            work.ends["a"].set()
        wish.cancel()
        await anyio.wait_all_tasks_blocked()
        work.ends["a"].set()
        await anyio.wait_all_tasks_blocked()
        assert work.begun == ["a", "c"]
        work.ends["c"].set()


def test_only_so_many_requests_of_an_owner_are_open() -> None:
    lanes = Lanes(most_open=1)
    with lanes.of("alice") as first, lanes.of("alice") as second, lanes.of("bob") as other:
        assert first is not None
        assert second is None
        assert other is not None
    with lanes.of("alice") as later:
        assert later is not None


class Everybody:
    """Believes every token."""

    async def identify(self, headers: HeaderLines, address: str) -> Identity | Denial:
        del address
        return Identity(dict(headers)[b"authorization"].decode())


class Served:
    """A front over homes that note what is begun, and answer when they are let."""

    def __init__(self, lanes: Lanes) -> None:
        self.begun: list[bytes] = []
        self.told: dict[bytes, list[Message]] = {}
        self.let_answer = anyio.Event()
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self.front = Front("/mcp", self._home, Everybody(), security, self._is_ready, lanes=lanes)

    async def ask(self, owner: str, question: bytes, connection: object = None) -> None:
        headers = [(b"authorization", owner.encode()), (b"content-type", b"application/json")]
        scope: Scope = {"type": "http", "path": "/mcp", "method": "POST", "headers": headers, "query_string": b""}
        scope["client"] = ("127.0.0.1", 1)
        if connection is not None:
            scope[CONNECTION] = connection
        self.told[question] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": question, "more_body": False}

        async def send(message: Message) -> None:
            self.told[question].append(message)

        await self.front(scope, receive, send)

    @asynccontextmanager
    async def _home(self, _owner: str) -> AsyncGenerator[ASGIApp]:
        async def home(_scope: Scope, receive: Receive, send: Send) -> None:
            self.begun.append((await receive())["body"])
            await self.let_answer.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"{}"})

        yield home

    async def _is_ready(self) -> bool:
        return True


async def test_a_request_whose_connection_is_gone_before_its_turn_is_not_begun() -> None:
    served = Served(Lanes(at_work=1, share_seconds=NEVER))
    connection = SimpleNamespace(is_lost=False, unread_bytes=lambda: 0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(served.ask, "alice", b"first")
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(served.ask, "alice", b"left", connection)
        tasks.start_soon(served.ask, "alice", b"third")
        tasks.start_soon(served.ask, "bob", b"other")
        await anyio.wait_all_tasks_blocked()
        assert served.begun == [b"first", b"other"]
        connection.is_lost = True
        served.let_answer.set()
    assert served.begun == [b"first", b"other", b"third"]
    assert served.told[b"left"] == []


async def test_a_request_over_the_limit_of_open_ones_is_told_to_come_back() -> None:
    served = Served(Lanes(most_open=1))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(served.ask, "alice", b"first")
        await anyio.wait_all_tasks_blocked()
        await served.ask("alice", b"second")
        start = served.told[b"second"][0]
        assert start["status"] == 429
        assert (b"retry-after", b"5") in start["headers"]
        served.let_answer.set()
    assert served.begun == [b"first"]


async def test_a_request_that_waits_while_the_server_begins_to_end_is_not_begun() -> None:
    served = Served(Lanes(at_work=1, share_seconds=NEVER))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(served.ask, "alice", b"first")
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(served.ask, "alice", b"second")
        await anyio.wait_all_tasks_blocked()
        served.front.end()
        served.let_answer.set()
    assert served.begun == [b"first"]
    assert served.told[b"second"][0]["status"] == 503
