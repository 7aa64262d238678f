"""Roots of clients: which paths their URIs name, and when a client is asked again."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from anyio.lowlevel import checkpoint
from mcp import MCPError
from mcp.types import REQUEST_TIMEOUT, ClientCapabilities, NotificationParams, RootsCapability

from conversation_mcp.server.roots import MAX_ROOTS, ClientRoots, NamedRoot, NamedRoots, Request, local_path, paths_of


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///home/me/app", "/home/me/app"),
        ("file:///home/me/app/", "/home/me/app"),
        ("FILE:///home", "/home"),
        ("file://localhost/home", "/home"),
        ("file:///a%20b/%C3%BC%23%3F", "/a b/ü#?"),
        ("file:///not%20encoded#1?2", "/not encoded#1?2"),
        ("file:///latin-%E9", "/latin-\udce9"),
        (" file:///home\n", "/home"),
        ("file:///a%00b", None),
        ("file://elsewhere/home", None),
        ("file:relative", None),
        ("file://", None),
        ("https://example.org/home", None),
        ("/home/me", None),
        ("", None),
    ],
)
def test_a_uri_names_a_path_of_this_machine_or_nothing(uri: str, path: str | None) -> None:
    assert local_path(uri, on_windows=False) == path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///C:/Users/me/app", r"C:\Users\me\app"),
        ("file:///c%3A/Users/me%20too", r"c:\Users\me too"),
        ("file:///C:", None),
        ("file://server/share/app", r"\\server\share\app"),
        ("file:///home/me", None),
    ],
)
def test_a_uri_names_a_drive_or_a_share_on_windows(uri: str, path: str | None) -> None:
    assert local_path(uri, on_windows=True) == path


def test_roots_are_kept_in_order_once_each_and_not_without_end() -> None:
    uris = ["file:///b", "untitled:1", "file:///a", "file:///b/"]
    assert paths_of(uris) == (Path("/b"), Path("/a"))
    assert len(paths_of(f"file:///{number}" for number in range(MAX_ROOTS * 2))) == MAX_ROOTS


class Peer:
    """Stands for the connection of a client."""


@dataclass
class Session:
    """A client of the older era that plays its answers to roots/list."""

    answers: list[NamedRoots | Exception]
    _connection: Peer = field(default_factory=Peer)
    client_capabilities = ClientCapabilities(roots=RootsCapability())

    async def send_request(self, *_: object, **__: object) -> NamedRoots:
        await checkpoint()
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@dataclass
class Call:
    """A request in that session."""

    session: Session
    request_id: int = 1
    protocol_version: str = "2025-11-25"


def named(*uris: str) -> NamedRoots:
    return NamedRoots(roots=[NamedRoot(uri=uri) for uri in uris])


def asked_by(*answers: NamedRoots | Exception) -> Request:
    return cast("Request", Call(Session(list(answers))))


async def test_a_client_that_was_too_slow_is_asked_again_with_the_next_question() -> None:
    slow = MCPError(code=REQUEST_TIMEOUT, message="too slow")
    request, roots = asked_by(slow, named("file:///work")), ClientRoots()
    assert [await roots.getter(request, None)() for _ in range(3)] == [(), (Path("/work"),), (Path("/work"),)]


@pytest.mark.parametrize("error", [MCPError(code=-32601, message="no such method"), RuntimeError("a broken pipe")])
async def test_a_client_that_failed_is_not_asked_again(error: Exception) -> None:
    request, roots = asked_by(error), ClientRoots()
    assert [await roots.getter(request, None)() for _ in range(2)] == [(), ()]


async def test_roots_that_change_while_the_client_answers_are_asked_for_again() -> None:
    roots = ClientRoots()
    request = asked_by(named("file:///old"), named("file:///new"))
    session = cast("Any", request.session)
    answer = session.send_request

    async def changing(*arguments: object, **options: object) -> NamedRoots:
        await roots.forget(request, NotificationParams())
        session.send_request = answer
        return await answer(*arguments, **options)

    session.send_request = changing
    assert [await roots.getter(request, None)() for _ in range(2)] == [(Path("/old"),), (Path("/new"),)]


async def test_each_session_has_roots_of_its_own() -> None:
    roots = ClientRoots()
    one, other = asked_by(named("file:///one")), asked_by(named("file:///other"))
    assert (await roots.getter(one, None)(), await roots.getter(other, None)()) == ((Path("/one"),), (Path("/other"),))
