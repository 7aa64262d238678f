"""What every answer to a request is made with: the services of its owner, the templates, the forms."""

import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from conversation_mcp.app import App
from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError, InvalidInputError
from conversation_mcp.tooling.steps import COMMANDS
from conversation_mcp.web.visits import Visit

Make = Callable[[], Awaitable[object]]
FORM_TOKEN = "form"  # noqa: S105 -- the name of a field
MAX_FIELDS = 50
CUT = "\f"
"""No text of a page is this alone."""


class FormRefusedError(Exception):
    """The form was not made by a page of this viewer."""


@dataclass
class Rest:
    """What a page shows after its beginning was sent."""

    made: object = None
    problem: str = ""


class Desk:
    """Answers with pages, whose style, script and icon have that version."""

    def __init__(self, templates: Environment, version: str) -> None:
        self._templates = templates
        self._version = version

    def app(self, request: Request) -> App:
        """Return the services of who asks, and of nobody else."""
        return visit_of(request).app

    def page(self, request: Request, template: str, status: int = 200, **facts: object) -> Response:
        """Return the page of a template."""
        text = "".join(self._pieces(request, template, facts))
        return HTMLResponse(visit_of(request).cover(text), status)

    def page_in_two(self, request: Request, template: str, make: Make, **facts: object) -> Response:
        """Return the page of a template that shows `cut`: what is before it is sent before the rest is made.

        What is made stands in `rest.made`; if that failed, `rest.problem` says why.
        """
        rest = Rest()
        pieces = self._pieces(request, template, {"cut": CUT, "rest": rest, **facts})

        async def parts() -> AsyncIterator[str]:
            yield visit_of(request).cover("".join(iter(pieces.__next__, CUT)))
            try:
                rest.made = await make()
            except ConversationMCPError as error:  # too late for a status
                rest.problem = sentence(error, request)
            yield visit_of(request).cover("".join(pieces))

        return StreamingResponse(parts(), media_type="text/html")

    def problem(self, request: Request, error: ConversationMCPError) -> Response:
        """Return the page that says what went wrong and what to do."""
        return self.page(request, "problem.html", status_of(error), problem=sentence(error, request), code=error.code)

    async def form(self, request: Request) -> Mapping[str, str]:
        """Return the fields of a form.

        Raises:
            FormRefusedError: it does not hold the token of this visitor's pages.
        """
        form = await request.form(max_files=0, max_fields=MAX_FIELDS)
        fields: dict[str, Any] = dict(form)
        given = str(fields.pop(FORM_TOKEN, ""))
        if not hmac.compare_digest(given.encode(), request.state.form_token.encode()):
            raise FormRefusedError
        return {name: str(value) for name, value in fields.items()}

    def _pieces(self, request: Request, template: str, facts: Mapping[str, object]) -> Iterator[str]:
        made = self._templates.get_template(f"web/{template}")
        return made.generate(form_token=request.state.form_token, version=self._version, **facts)


def visit_of(request: Request) -> Visit:
    """Return the visit that the gate has opened."""
    return request.state.visit


def sentence(error: ConversationMCPError, request: Request) -> str:
    """Return what happened and what to do, for people at a page."""
    return visit_of(request).cover_error(error.sentence(COMMANDS).removeprefix(f"{error.code}: "))


def status_of(error: ConversationMCPError) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, ConversationNotFoundError):
        return 404
    return 422 if isinstance(error, InvalidInputError) else 500


def back(path: str) -> Response:
    """Lead the browser to a page after a form, so that reloading it sends nothing again."""
    return RedirectResponse(path, 303)
