"""What a page is made with: its beginning is sent before the rest is made."""

from collections.abc import AsyncIterator
from typing import cast

from jinja2 import DictLoader, Environment
from starlette.requests import Request
from starlette.responses import StreamingResponse

from conversation_mcp.app import App
from conversation_mcp.errors import FilesystemError
from conversation_mcp.web.desk import Desk, Make
from conversation_mcp.web.visits import Visit

TEMPLATES = {"web/x.html": "{{ title }}{{ cut }}{{ rest.problem or rest.made }}"}


async def test_the_beginning_of_a_page_is_sent_before_the_rest_is_made() -> None:
    made: list[str] = []

    async def make() -> str:
        made.append("rest")
        return "the rest in /secret"

    parts = _parts(make, title="<\f> /secret")
    assert (await anext(parts), made) == ("&lt;\f&gt; …", [])
    assert (await anext(parts), made) == ("the rest in …", ["rest"])
    assert await anext(parts, None) is None


async def test_a_page_whose_rest_cannot_be_made_ends_with_the_reason() -> None:
    async def make() -> str:
        raise FilesystemError("/secret", "cannot be read")

    beginning, rest = [part async for part in _parts(make, title="A title")]
    assert beginning == "A title"
    assert "…: cannot be read" in rest


def _parts(make: Make, title: str) -> AsyncIterator[str]:
    templates = Environment(loader=DictLoader(TEMPLATES), autoescape=True)
    visit = Visit("local", cast("App", None), _covered)
    request = Request({"type": "http", "state": {"visit": visit, "form_token": "t"}})
    answer = Desk(templates, "1").page_in_two(request, "x.html", make, title=title)
    assert isinstance(answer, StreamingResponse)
    return cast("AsyncIterator[str]", answer.body_iterator)


def _covered(text: str) -> str:
    return text.replace("/secret", "…")
