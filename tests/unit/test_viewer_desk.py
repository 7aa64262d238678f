"""What a page is made with: its beginning is sent before the rest is made."""

from collections.abc import AsyncIterator
from typing import cast

from jinja2 import DictLoader, Environment
from starlette.requests import Request
from starlette.responses import StreamingResponse

from conversation_mcp.app import App
from conversation_mcp.web.desk import Desk
from conversation_mcp.web.visits import Visit


async def test_the_beginning_of_a_page_is_sent_before_the_rest_is_made() -> None:
    made: list[str] = []

    def rest() -> str:
        made.append("rest")
        return "the rest in /secret"

    templates = Environment(loader=DictLoader({"web/x.html": "{{ title }}{{ cut }}{{ rest() }}"}), autoescape=True)
    visit = Visit("local", cast("App", None), _covered)
    request = Request({"type": "http", "state": {"visit": visit, "form_token": "t"}})
    answer = Desk(templates, "1").page_in_two(request, "x.html", title="<\f> /secret", rest=rest)
    assert isinstance(answer, StreamingResponse)
    parts = cast("AsyncIterator[str]", answer.body_iterator)
    assert (await anext(parts), made) == ("&lt;\f&gt; …", [])
    assert (await anext(parts), made) == ("the rest in …", ["rest"])
    assert await anext(parts, None) is None


def _covered(text: str) -> str:
    return text.replace("/secret", "…")
