"""The viewer behind a server over HTTP: each owner sees their own, and nothing of the machine."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from anyio import to_thread
from starlette.routing import Route
from tests.fixtures.homes import Home
from tests.fixtures.over_http import ByName, HttpServer, http_server
from tests.fixtures.providers import FakeProvider

from conversation_mcp.cli.http_pages import entrance_with_pages
from conversation_mcp.server.http.serving import Entrance
from conversation_mcp.settings import Settings
from conversation_mcp.web.site import build_site

NOWHERE = "20200101-1577836800000"


def by_name(settings: Settings) -> Entrance:
    del settings
    return Entrance(ByName())


@pytest.fixture
async def server(home: Home) -> AsyncGenerator[HttpServer]:
    async with http_server(home, FakeProvider(), open_entrance=with_pages) as server:
        yield server


def with_pages(settings: Settings) -> Entrance:
    return entrance_with_pages(by_name, settings, is_secure=False)


@asynccontextmanager
async def visitor(server: HttpServer, owner: str) -> AsyncGenerator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.origin, headers={"origin": server.origin}, timeout=60) as client:
        entered = await client.post("/enter", data={"token": owner})
        assert entered.status_code == 303, entered.text
        yield client


async def form_token(client: httpx.AsyncClient) -> str:
    return (await client.get("/")).text.partition('name="form-token" content="')[2].partition('"')[0]


async def asked(client: httpx.AsyncClient, question: str) -> str:
    data = {"form": await form_token(client), "kind": "search", "question": question}
    answer = await client.post("/ask", data=data)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].partition("#")[0]


async def test_who_has_no_token_sees_a_door(server: HttpServer) -> None:
    async with httpx.AsyncClient(base_url=server.origin, headers={"origin": server.origin}) as client:
        door = await client.get("/")
        assert door.status_code == 401
        assert 'action="/enter"' in door.text
        for token in ("", "nobody"):
            refused = await client.post("/enter", data={"token": token})
            assert refused.status_code == 401
            assert "set-cookie" not in refused.headers
        assert (await client.get("/style.css")).status_code == 401
        foreign = await client.post("/enter", data={"token": "ann"}, headers={"origin": "http://127.0.0.1:1"})
        assert foreign.status_code == 403


async def test_each_owner_sees_their_own_and_nothing_of_another(server: HttpServer) -> None:
    async with visitor(server, "ann") as ann, visitor(server, "bob") as bob:
        place = await asked(ann, "What is Ann's secret?")
        assert "secret" in (await ann.get(place)).text
        assert "secret" in (await ann.get("/")).text
        assert "There are no conversations yet." in (await bob.get("/")).text
        before = (await ann.get(f"{place}/raw")).text
        fields = {"form": await form_token(bob), "question": "?", "kind": "search", "title": "mine", "tags": "a"}
        for path, method in await to_thread.run_sync(pages):
            data = {**fields, "message": "3"} if method == "POST" else None
            hers, nobodys = [
                await bob.request(method, path.replace("{id}", each), data=data, params={"format": "json"})
                for each in (place[3:], NOWHERE)
            ]
            if "{id}" in path:
                assert hers.status_code == nobodys.status_code == 404, path
                assert hers.text.replace(place[3:], "") == nobodys.text.replace(NOWHERE, "")
            assert "secret" not in hers.text
            assert place[3:] not in hers.text or "{id}" in path
        assert (await ann.get(f"{place}/raw")).text == before


def pages() -> list[tuple[str, str]]:
    """Return all pages that there are, each with the methods by which they are asked for."""
    routes = [route for route in build_site().routes if isinstance(route, Route)]
    return [(route.path, method) for route in routes for method in sorted((route.methods or set()) - {"HEAD"})]


async def test_the_form_of_one_visitor_is_refused_from_another(server: HttpServer) -> None:
    async with visitor(server, "ann") as ann, visitor(server, "bob") as bob:
        stolen = await form_token(ann)
        answer = await bob.post("/ask", data={"form": stolen, "kind": "search", "question": "one?"})
        assert answer.status_code == 403


async def test_no_page_shows_a_path_of_the_server(server: HttpServer, home: Home, tmp_path: Path) -> None:
    async with visitor(server, "ann") as ann:
        place = await asked(ann, "one?")
        for path in ("/", place, f"{place}/raw", f"{place}/export?format=html", "/trash", "/figures", f"{place}x"):
            text = (await ann.get(path)).text
            assert str(tmp_path) not in text, path
            assert home.place not in text, path


async def test_the_protocol_is_still_served_beside_the_pages(server: HttpServer) -> None:
    async with server.client("ann") as client:
        assert (await client.list_tools()).tools
