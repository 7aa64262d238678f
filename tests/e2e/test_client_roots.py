"""The folders that a client names as its roots, in both eras, and clients that name none although they say they would."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.session import ListRootsFnT
from mcp.types import INTERNAL_ERROR, ErrorData, ListRootsResult, Root
from pydantic import FileUrl
from tests.fixtures.folders import ID
from tests.fixtures.listening_engine import ListeningEngine, heard_of, listening_server
from tests.fixtures.processes import ROOT, RawServer, environment
from tests.fixtures.serving import Era, data_of
from tests.fixtures.tasks import KNOWS_TASKS

QUESTION: dict[str, Any] = {"prompt": "Is it right?", "files": ["/work/a.py"]}


class Roots:
    """A client's list of roots that can change."""

    def __init__(self, *uris: str) -> None:
        self.uris = uris
        self.asked = 0

    async def __call__(self, context: object) -> ListRootsResult | ErrorData:
        del context
        self.asked += 1
        return ListRootsResult(roots=[Root(uri=FileUrl(uri)) for uri in self.uris])


async def refused(context: object) -> ListRootsResult | ErrorData:
    del context
    return ErrorData(code=INTERNAL_ERROR, message="There are none today.")


async def roots_heard(client: Client, **arguments: object) -> list[str]:
    return heard_of(data_of(await client.call_tool("chat", {**QUESTION, **arguments})))["roots"]


def client_of(folder: Path, answer: ListRootsFnT | None, era: Era, **options: Any) -> Client:
    server = listening_server(folder, ListeningEngine(), **options)
    return Client(server, mode=era, raise_exceptions=True, list_roots_callback=answer)


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_question_with_files_gets_the_roots_that_the_client_names(tmp_path: Path, era: Era) -> None:
    async with client_of(tmp_path, Roots("file:///work/one", "file:///work/the%20other%20%C3%BC"), era) as client:
        assert await roots_heard(client) == ["/work/one", "/work/the other ü"]


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_client_without_roots_is_not_asked_for_any(tmp_path: Path, era: Era) -> None:
    async with client_of(tmp_path, None, era) as client:
        assert await roots_heard(client) == []


async def test_roots_are_asked_for_once_in_a_session_and_again_after_a_change(tmp_path: Path) -> None:
    roots = Roots("file:///work/one")
    async with client_of(tmp_path, roots, "legacy") as client:
        async with anyio.create_task_group() as both:  # also if two questions come at the same moment
            both.start_soon(roots_heard, client)
            both.start_soon(roots_heard, client)
        assert await roots_heard(client) == ["/work/one"]
        assert roots.asked == 1
        roots.uris = ("file:///work/two",)
        with pytest.warns(match="deprecated"):
            await client.send_roots_list_changed()  # pyright: ignore[reportDeprecated] -- the older era has it
        assert await roots_heard(client) == ["/work/two"]
        assert roots.asked == 2


async def test_a_client_that_refuses_has_no_roots_and_its_question_goes_on(tmp_path: Path) -> None:
    async with client_of(tmp_path, refused, "legacy") as client:
        assert await roots_heard(client) == []


async def test_a_client_that_does_not_answer_has_no_roots_and_its_question_goes_on(tmp_path: Path) -> None:
    async def silent(context: object) -> ListRootsResult | ErrorData:
        del context
        await anyio.sleep_forever()
        raise AssertionError

    async with client_of(tmp_path, silent, "legacy", roots_seconds=0.01) as client:
        assert await roots_heard(client) == []


async def test_a_client_of_the_new_era_is_told_what_is_missing_only_for_files_and_only_once(tmp_path: Path) -> None:
    roots = Roots("file:///work/one")
    engine = ListeningEngine()
    server = listening_server(tmp_path, engine)
    async with Client(server, raise_exceptions=True, list_roots_callback=roots) as client:
        await roots_heard(client, files=[])
        assert roots.asked == 0
        await roots_heard(client, files=[], images=["/work/a.png"])
        assert (roots.asked, len(engine.asks)) == (1, 2)


async def test_a_task_gets_the_roots_too(tmp_path: Path) -> None:
    server = listening_server(tmp_path, ListeningEngine())
    roots = Roots("file:///work/one")
    async with Client(
        server, raise_exceptions=True, list_roots_callback=roots, extensions=KNOWS_TASKS["extensions"]
    ) as client:
        assert await roots_heard(client) == ["/work/one"]


def command(folder: Path, seconds: float) -> list[str]:
    return [sys.executable, "-m", "tests.fixtures.listening_engine", str(folder), str(seconds)]


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_roots_come_over_stdio(tmp_path: Path, era: Era) -> None:
    program, *arguments = command(tmp_path, 60)
    server = StdioServerParameters(command=program, args=arguments, env=environment(tmp_path), cwd=str(ROOT))
    async with Client(server, mode=era, list_roots_callback=Roots("file:///work/one")) as client:
        assert await roots_heard(client) == ["/work/one"]


NONSENSE: list[dict[str, Any]] = [
    {"result": {}},
    {"result": {"roots": "everything"}},
    {"result": {"roots": [{"uri": 5}]}},
    {"result": {"roots": [{"uri": "https://example.org/"}, {"uri": "file:relative"}, {"uri": "file://elsewhere/x"}]}},
    {"error": {"code": -32601, "message": "Method not found"}},
]


@pytest.mark.parametrize("answer", NONSENSE, ids=json.dumps)
def test_a_client_that_sends_nonsense_over_stdio_has_no_roots(tmp_path: Path, answer: dict[str, Any]) -> None:
    with roots_client(tmp_path, 60) as server:
        server.call("chat", **QUESTION)
        asked = next_request(server)
        server.send_line(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}).encode())
        assert heard_of(server.answer_to(1)["result"]["structuredContent"])["roots"] == []
        server.end_of_input()


def test_one_root_that_is_no_file_leaves_the_others(tmp_path: Path) -> None:
    with roots_client(tmp_path, 60) as server:
        server.call("search_followup", conversationId=ID, query="Right?", images=["/work/a.png"])
        roots = [{"uri": "untitled:one"}, {"uri": "file:///work/a b#c", "name": "b"}, {"uri": "FILE://localhost/work"}]
        answer = {"jsonrpc": "2.0", "id": next_request(server)["id"], "result": {"roots": roots}}
        server.send_line(json.dumps(answer).encode())
        heard = heard_of(server.answer_to(1)["result"]["structuredContent"])
        assert heard["roots"] == ["/work/a b#c", "/work"]
        server.end_of_input()


def test_a_client_that_does_not_answer_over_stdio_has_no_roots(tmp_path: Path) -> None:
    with roots_client(tmp_path, 0.05) as server:
        server.call("chat", 7, **QUESTION)
        assert heard_of(server.answer_to(7)["result"]["structuredContent"])["roots"] == []
        assert any(b'"roots/list"' in line for line in server.lines)
        server.end_of_input()


class ListeningServer(RawServer):
    """A server that tells what its engine has heard."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self._program = command(folder, seconds)
        super().__init__(folder, cwd=ROOT)

    def command(self) -> list[str]:
        return self._program


def roots_client(folder: Path, seconds: float) -> RawServer:
    """Return a server process whose client has declared roots."""
    server = ListeningServer(folder, seconds)
    server.initialize(roots={"listChanged": True})
    return server


def next_request(server: RawServer) -> dict[str, Any]:
    """Return the next request of the server."""
    assert server.process.stdout
    while line := server.process.stdout.readline():
        message = json.loads(line)
        if "method" in message and "id" in message:
            return message
    raise AssertionError("the server asked nothing")
