"""The addresses of the viewer and what stands behind each."""

from collections.abc import Iterator, Mapping
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.exporting.html.environment import content_style, environment
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.web.changes import Changes
from conversation_mcp.web.desk import Desk, FormRefusedError
from conversation_mcp.web.figures import FiguresPage
from conversation_mcp.web.lists import Lists
from conversation_mcp.web.questions import AskedQuestions, Questions
from conversation_mcp.web.reading import ConversationPages

PACKAGE = "conversation_mcp.web"
MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "ico": "image/svg+xml"}
KEPT = {"cache-control": "private, max-age=31536000, immutable"}
VERSION_CHARS = 16
ICONS = ("/favicon.svg", "/favicon.ico")
"""The second is what browsers ask for beside a page without HTML, such as the raw file."""


def build_site() -> Starlette:
    """Return the pages. A gate must stand before them."""
    style, script, icon = content_style() + _static("site.css"), _static("page.js"), _static("favicon.svg")
    version = hash_of((style + script + icon).encode())[:VERSION_CHARS]
    desk, asked = Desk(environment(web=PACKAGE), version), AskedQuestions()
    lists, reading, changes = Lists(desk), ConversationPages(desk, asked), Changes(desk)
    questions, figures = Questions(desk, asked), FiguresPage(desk)

    async def problem(request: Request, error: Exception) -> Response:
        if isinstance(error, ConversationMCPError):
            return desk.problem(request, error)
        return PlainTextResponse("The form is not from a page of this viewer, or too old. Load the page again.\n", 403)

    async def missing(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        return desk.page(request, "problem.html", status, problem="There is no such page.", code="")

    conversation = "/c/{id}"
    return Starlette(
        routes=[
            Route("/", lists.conversations),
            Route("/trash", lists.trash),
            Route("/figures", figures.page),
            Route("/ask", questions.form, methods=["GET"]),
            Route("/ask", questions.ask, methods=["POST"]),
            Route("/models", questions.models),
            Route(conversation, reading.page),
            Route(f"{conversation}/part", reading.part),
            Route(f"{conversation}/raw", reading.raw),
            Route(f"{conversation}/export", reading.export),
            Route(f"{conversation}/ask", questions.ask, methods=["POST"]),
            Route(f"{conversation}/stop", questions.stop, methods=["POST"]),
            Route(f"{conversation}/rename", changes.rename, methods=["POST"]),
            Route(f"{conversation}/tag", changes.tag, methods=["POST"]),
            Route(f"{conversation}/archive", changes.archive, methods=["POST"]),
            Route(f"{conversation}/branch", changes.branch, methods=["POST"]),
            Route(f"{conversation}/delete", changes.delete, methods=["POST"]),
            Route(f"{conversation}/restore", changes.restore, methods=["POST"]),
            *_files(version, {"/style.css": style, "/page.js": script, **dict.fromkeys(ICONS, icon)}),
        ],
        exception_handlers={ConversationMCPError: problem, FormRefusedError: problem, HTTPException: missing},
    )


def _static(name: str) -> str:
    return files(PACKAGE).joinpath("static", name).read_text("utf-8")


def _files(version: str, texts: Mapping[str, str]) -> Iterator[Route]:
    """Yield the addresses of files, which browsers ask for once for each version that pages name."""

    async def serve(request: Request) -> Response:  # a function that is not async would wait for a thread
        # A page of another version, from a server that has been replaced meanwhile, must not keep these.
        kept = KEPT if request.query_params.get("v") == version else {}
        path = request.url.path
        return Response(texts[path], media_type=MEDIA_TYPES[path.rpartition(".")[2]], headers=kept)

    return (Route(path, serve) for path in texts)
