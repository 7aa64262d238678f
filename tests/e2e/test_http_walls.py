"""Nothing of A's reaches B by any method of the protocol, in any of its versions, nor by a stream that B holds open.

The methods are those that the SDK knows and the server handles: a new one fails here until there is a way to try it.
"""

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, get_args

import anyio
import httpx
import mcp.types
import pytest
from mcp_types.methods import SERVER_NOTIFICATIONS, SPEC_CLIENT_METHODS, SPEC_CLIENT_NOTIFICATION_METHODS
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS
from pydantic import BaseModel
from tests.fixtures.homes import Home
from tests.fixtures.over_http import HttpServer, http_server
from tests.fixtures.providers import FakeProvider, held
from tests.fixtures.serving import server_on
from tests.fixtures.stores import UNKNOWN
from tests.fixtures.wire_calls import KNOWS_TASKS, NEW_ERA, NO_HEADERS, OLD_ERA, Heard, Wire, wire_to

from conversation_mcp.tools.catalog import TOOL_SETS

ALL_SETS = tuple(TOOL_SETS)
WAIT = 600
WORDS = "the launch code is heron"


class Things(NamedTuple):
    """What B names: things of A's, or the like that nobody has."""

    conversation: str
    task: str
    memory: str
    request: str
    """The id of a call that is running, under which B sends its own requests too."""
    token: str
    """The token of that call's progress, which is that of B's own progress too."""


MARKS = Things(*(f"<{name}>" for name in Things._fields))
NOBODYS = Things(UNKNOWN, f"{UNKNOWN}.1769817600999.{'0f' * 32}", "memory-" + "0" * 16, "no-call", "no-progress")
ADDRESS = f"conversation://{MARKS.conversation}"
ASKED: dict[str, Any] = {
    "messages": [{"role": "user", "content": {"type": "text", "text": MARKS.conversation}}],
    "maxTokens": 9,
}
FORM: dict[str, Any] = {"message": MARKS.conversation, "requestedSchema": {"type": "object", "properties": {}}}

WAYS: Mapping[str, dict[str, Any]] = {
    "completion/complete": {
        "ref": {"type": "ref/resource", "uri": "conversation://{conversationId}"},
        "argument": {"name": "conversationId", "value": MARKS.conversation},
    },
    "elicitation/create": FORM,
    "initialize": {
        "protocolVersion": OLD_ERA,
        "capabilities": {},
        "clientInfo": {"name": MARKS.conversation, "version": "1"},
    },
    "logging/setLevel": {"level": "debug"},
    "notifications/cancelled": {"requestId": MARKS.request},
    "notifications/elicitation/complete": {"elicitationId": MARKS.request},
    "notifications/initialized": {},
    "notifications/message": {"level": "info", "data": MARKS.conversation},
    "notifications/progress": {"progressToken": MARKS.token, "progress": 1.0},
    "notifications/prompts/list_changed": {},
    "notifications/resources/list_changed": {},
    "notifications/resources/updated": {"uri": ADDRESS},
    "notifications/roots/list_changed": {},
    "notifications/subscriptions/acknowledged": {"notifications": {"resourceSubscriptions": [ADDRESS]}},
    "notifications/tasks/status": {"taskId": MARKS.task, "status": "cancelled"},
    "notifications/tools/list_changed": {},
    "ping": {},
    "prompts/get": {"name": "continue_conversation", "arguments": {"conversationId": MARKS.conversation}},
    "prompts/list": {},
    "resources/list": {},
    "resources/read": {"uri": ADDRESS},
    "resources/subscribe": {"uri": ADDRESS},
    "resources/templates/list": {},
    "resources/unsubscribe": {"uri": ADDRESS},
    "roots/list": {},
    "sampling/createMessage": ASKED,
    "server/discover": {},
    "subscriptions/listen": {
        "notifications": {
            "toolsListChanged": True,
            "promptsListChanged": True,
            "resourcesListChanged": True,
            "resourceSubscriptions": [ADDRESS, f"{ADDRESS}/", ADDRESS.upper()],
        }
    },
    "tasks/cancel": {"taskId": MARKS.task},
    "tasks/get": {"taskId": MARKS.task},
    "tasks/list": {},
    "tasks/result": {"taskId": MARKS.task},
    "tasks/update": {"taskId": MARKS.task, "inputResponses": {}},
    "tools/call": {"name": "get_conversation_history", "arguments": {"conversationId": MARKS.conversation}},
    "tools/list": {},
}
"""How each method is tried. The tools, prompts and completions are walked one by one in test_http_owners.py."""
TOLD = {
    "notifications/progress",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/subscriptions/acknowledged",
}
"""What this server notifies clients of; A hears all of it here."""
NEVER_TOLD = {
    "notifications/cancelled",
    "notifications/elicitation/complete",
    "notifications/message",
    "notifications/prompts/list_changed",
    "notifications/tools/list_changed",
}
WITH_TASKS: dict[str, Any] = {"io.modelcontextprotocol/clientCapabilities": KNOWS_TASKS}
RESUMING = {"last-event-id": "1", "mcp-session-id": "1"}
"""Ask for the rest of a stream that another request began."""


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


def filled(params: Mapping[str, Any], things: Things) -> dict[str, Any]:
    """Return the parameters with the names of things in place of their marks."""
    text = json.dumps(params)
    for mark, name in zip(MARKS, things, strict=True):
        text = text.replace(mark, name)
    return json.loads(text)


def unfilled(heard: Heard, things: Things) -> tuple[int, str]:
    """Return what came back, with marks in place of the names that were sent."""
    text = heard.text
    for mark, name in sorted(zip(MARKS, things, strict=True), key=lambda pair: -len(pair[1])):
        text = text.replace(name, mark).replace(name.upper(), mark)
    return heard.status, text


class Alice:
    """A, with a conversation that has ended, a memory, a task and two calls that are running, and a stream."""

    def __init__(self, wire: Wire, provider: FakeProvider) -> None:
        self._wire = wire
        self._provider = provider
        self._release = anyio.Event()
        self._heard: list[Heard] = []
        self.things = NOBODYS

    async def begin(self) -> None:
        """Begin what is to run while B tries."""
        conversation = (await self._called("search", query=WORDS))["conversationId"]
        memory = (await self._called("store_memory", content=f"Remember: {WORDS}"))["memoryId"]
        task = (await (await self._held(f"And {WORDS}?", _meta=WITH_TASKS)).answer())["result"]["taskId"]
        self.things = Things(conversation, task, memory, "alices-call", "alices-progress")
        meta = {"progressToken": self.things.token}
        self._calls = [await self._held(f"{WORDS}, in {era}?", era, _meta=meta) for era in (OLD_ERA, NEW_ERA)]
        self._stream = self._send("subscriptions/listen", filled(WAYS["subscriptions/listen"], self.things))
        await self._stream.until("acknowledged")

    async def work(self) -> None:
        """Do what is told to who listens, until all that is told has come."""
        await self._called("search_followup", conversationId=self.things.conversation, query=f"How, if {WORDS}?")
        await self._called("search", query=f"Why is it that {WORDS}?")
        await self._called("update_conversation", conversationId=self.things.conversation, title=WORDS)
        await self._stream.until("notifications/resources/updated")
        await self._stream.until("notifications/resources/list_changed")
        self._release.set()
        for call in self._calls:  # which B has tried to stop
            assert "heron" in (await call.answer())["result"]["structuredContent"]["rawResultText"]
        with anyio.fail_after(60):
            while (status := await self._status()) == "working":
                await anyio.lowlevel.checkpoint()
        assert status == "completed"
        assert {notice for heard in self._heard for notice in heard.notices} == TOLD
        # With the id of an event a stream could be resumed, and that would be one more way to try.
        assert not [heard for heard in self._heard if "\nid:" in heard.text]

    async def _status(self) -> str:
        task = self._send("tasks/get", {"taskId": self.things.task, "_meta": WITH_TASKS})
        return (await task.answer())["result"]["status"]

    def _send(self, method: str, params: Mapping[str, Any], version: str = NEW_ERA) -> Heard:
        self._heard.append(self._wire.send("alice", method, params, version, request_id="alices-call"))
        return self._heard[-1]

    async def _called(self, tool: str, **arguments: object) -> dict[str, Any]:
        answer = await self._send("tools/call", {"name": tool, "arguments": arguments}).answer()
        return answer["result"]["structuredContent"]

    async def _held(self, query: str, version: str = NEW_ERA, **more: object) -> Heard:
        """Ask what is answered only at the end."""
        asked = anyio.Event()
        self._provider.scripts.append(held(self._release, asked))
        heard = self._send("tools/call", {"name": "search", "arguments": {"query": query}, **more}, version)
        with anyio.fail_after(60):
            await asked.wait()
        return heard


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
            assert not {word for _, text in told for word in (*alice.things, "heron") if word in text}, each.about
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
