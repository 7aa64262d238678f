"""Nothing of A's reaches B by any method of the protocol, in any of its versions, nor by a stream that B holds open.

The methods are those that the SDK knows and the server handles: a new one fails here until there is a way to try it.
"""

import inspect
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple, get_args

import anyio
import httpx
import mcp.types
import pytest
from mcp_types.methods import SERVER_NOTIFICATIONS, SPEC_CLIENT_METHODS, SPEC_CLIENT_NOTIFICATION_METHODS
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS
from pydantic import BaseModel
from tests.fixtures.homes import Home
from tests.fixtures.over_http import HttpServer, http_server
from tests.fixtures.owner_with_calls import (
    MARKS,
    NEVER_TOLD,
    NOBODYS,
    RESUMING,
    TOLD,
    WAYS,
    WITH_TASKS,
    Alice,
    Things,
    filled,
    unfilled,
)
from tests.fixtures.providers import FakeProvider, held
from tests.fixtures.serving import server_on
from tests.fixtures.wire_calls import NEW_ERA, NO_HEADERS, OLD_ERA, Heard, Wire, wire_to

from conversation_mcp.tools.catalog import TOOL_SETS

ALL_SETS = tuple(TOOL_SETS)
WAIT = 600


def known_methods(home: Path) -> set[str]:
    """Return the methods of every request and notification that the SDK or this server knows."""
    handlers = vars(server_on(home, FakeProvider(), tools=ALL_SETS)._lowlevel_server)  # pyright: ignore[reportPrivateUsage]
    models = [each for each in vars(mcp.types).values() if inspect.isclass(each) and issubclass(each, BaseModel)]
    named = [each.model_fields["method"].annotation for each in models if "method" in each.model_fields]
    return {
        *(str(method) for annotation in named for method in get_args(annotation)),
        *SPEC_CLIENT_METHODS,
        *SPEC_CLIENT_NOTIFICATION_METHODS,
        *handlers["_request_handlers"],
        *handlers["_notification_handlers"],
    }


def test_there_is_a_way_to_try_each_method(tmp_path: Path) -> None:
    assert set(WAYS) == known_methods(tmp_path)
    assert {method for method, _ in SERVER_NOTIFICATIONS} == TOLD | NEVER_TOLD


class Tried(NamedTuple):
    """What B has tried, with what came back for A's thing and for the like that nobody has."""

    about: str
    hers: Heard
    nobodys: Heard


def walk(wire: Wire, intruder: str, hers: Things, versions: Iterable[str]) -> Iterator[Tried]:
    """Try each method in each version; also with headers that ask for another stream."""
    for version in versions:
        for method, headers in product(
            WAYS, (NO_HEADERS, RESUMING) if version in (OLD_ERA, NEW_ERA) else (NO_HEADERS,)
        ):
            meta = {"progressToken": MARKS.token, **WITH_TASKS}
            both = [
                wire.send(
                    intruder,
                    method,
                    filled({**WAYS[method], "_meta": meta}, things),
                    version,
                    request_id=things.request,
                    headers=headers,
                )
                for things in (hers, NOBODYS)
            ]
            yield Tried(f"{method} in {version} with {headers}", *both)


async def nothing_crosses(
    server: HttpServer,
    provider: FakeProvider,
    intruders: Iterable[str],
    versions: Iterable[str] = KNOWN_PROTOCOL_VERSIONS,
) -> None:
    """Walk while much of A's is running, and have A work while B's streams are open."""
    async with wire_to(server) as wire:
        alice = Alice(wire, provider)
        await alice.begin()
        own, tried = list[Heard](), list[Tried]()
        release = anyio.Event()
        for intruder in intruders:
            own += await own_calls(wire, provider, intruder, alice.things, release)
            for each in walk(wire, intruder, alice.things, versions):
                for heard in (each.hers, each.nobodys):
                    await heard.until_answered()
                tried.append(each)
        await alice.work()
        streams = [heard for each in tried for heard in (each.hers, each.nobodys) if not heard.is_over]
        assert {(stream.method, stream.version) for stream in streams} == {("subscriptions/listen", NEW_ERA)}
        for intruder in intruders:
            wire.send(intruder, "tools/call", {"name": "search", "arguments": {"query": "Something of mine"}})
        for stream in streams:  # whatever was told of A has come before what is told of this
            await stream.until("notifications/resources/list_changed")
            assert stream.notices[0] == "notifications/subscriptions/acknowledged"
            assert set(stream.notices[1:]) == {"notifications/resources/list_changed"}
        for each in tried:
            told = unfilled(each.hers, alice.things), unfilled(each.nobodys, NOBODYS)
            if each.hers.is_over:
                assert told[0] == told[1], each.about
            assert not {word for *_, text in told for word in (*alice.things, "heron") if word in text}, each.about
        release.set()
        for heard in own:
            assert "Mine, in" in str(await heard.answer())
            assert set(heard.notices) <= {"notifications/progress"}
            assert "heron" not in heard.text


async def own_calls(
    wire: Wire, provider: FakeProvider, intruder: str, hers: Things, release: anyio.Event
) -> list[Heard]:
    """Let B have calls of its own run with the id and the token of A's, until the event is set."""
    calls: list[Heard] = []
    for version in (OLD_ERA, NEW_ERA):
        asked = anyio.Event()
        provider.scripts.append(held(release, asked))
        call = {"name": "search", "arguments": {"query": f"Mine, in {version}"}, "_meta": {"progressToken": hers.token}}
        calls.append(wire.send(intruder, "tools/call", call, version, request_id=hers.request))
        with anyio.fail_after(60):
            await asked.wait()
    return calls


async def test_no_method_and_no_stream_brings_b_anything_of_as(home: Home) -> None:
    provider = FakeProvider()
    async with http_server(home, provider, tools=ALL_SETS, answer_wait_seconds=WAIT) as server:
        await nothing_crosses(server, provider, ["bob"])


ALIKE = ["Alice", "../alice", "alice%00", "alice-", "аlice", "ａｌｉｃｅ"]


async def test_no_method_and_no_stream_takes_a_name_that_looks_like_hers_for_hers(tmp_path: Path) -> None:
    provider = FakeProvider()
    async with http_server(tmp_path, provider, tools=ALL_SETS, answer_wait_seconds=WAIT) as server:
        await nothing_crosses(server, provider, ALIKE, (OLD_ERA, NEW_ERA))


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_no_stream_can_be_resumed_or_ended_by_its_id(tmp_path: Path, method: str) -> None:
    async with http_server(tmp_path, FakeProvider()) as server, httpx.AsyncClient() as http:
        for version in KNOWN_PROTOCOL_VERSIONS:
            given = {**RESUMING, "authorization": "Bearer bob", "mcp-protocol-version": version}
            answer = await http.request(method, server.url, headers={**given, "accept": "text/event-stream"})
            assert answer.status_code == 405
