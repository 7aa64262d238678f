"""One conversation: its page, parts of it, its file, and its exports."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, cast, get_args

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from conversation_mcp.app import App
from conversation_mcp.conversations.filters import branches_of
from conversation_mcp.exporting.catalog import FormatName, export_format
from conversation_mcp.exporting.file_names import file_name
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.records.titles import title_of_conversation
from conversation_mcp.records.transcript import contents_named_in
from conversation_mcp.turns.ask import Caller
from conversation_mcp.turns.watch import View
from conversation_mcp.web.desk import Desk, visit_of
from conversation_mcp.web.pages.reading import Head, ShownPart, head_of, part_of
from conversation_mcp.web.questions import AskedQuestions, KindChoice, kinds_for

MAX_BRANCHES = 50
MAX_NUMBER_DIGITS = 9


class ShownConversation(NamedTuple):
    """What the page of a conversation shows below its title."""

    conversation: Conversation
    head: Head
    part: ShownPart
    progress: str
    notices: tuple[str, ...]
    branches: tuple[tuple[str, str], ...]
    """The ids and titles of conversations that came from this one."""
    kinds: Sequence[KindChoice]


class ConversationPages:
    """Answers with what a conversation holds."""

    def __init__(self, desk: Desk, asked: AskedQuestions) -> None:
        self._desk = desk
        self._asked = asked

    async def page(self, request: Request) -> Response:
        """Return the page: the last part, or that around the message `at`.

        The browser has its beginning while the file is read if enough is known of the conversation without that.
        """
        app, conversation_id = self._desk.app(request), check_id(request.path_params["id"])
        known = await to_thread.run_sync(app.store.finder.known, conversation_id)
        make = partial(self._shown, request, conversation_id)
        if known and known.pending is None:
            title, is_archived, is_running = known.title, known.archived, False
        else:
            # It may be missing or damaged, which the status has to say, or be about to change.
            shown = await make()
            make = partial(_itself, shown)
            title, is_archived = title_of_conversation(shown.conversation), shown.conversation.archived
            is_running = shown.part.is_running
        return self._desk.page_in_two(
            request,
            "conversation.html",
            make,
            conversation_id=conversation_id,
            title=title,
            is_archived=is_archived,
            is_running=is_running,
            formats=get_args(FormatName),
            question=request.query_params.get("question", ""),
        )

    async def _shown(self, request: Request, conversation_id: ConversationId) -> ShownConversation:
        app, view = self._desk.app(request), await self._view(request, conversation_id)
        path = "" if app.is_remote else app.store.location(conversation_id)
        found = await app.library.look_up(branches_of(conversation_id), MAX_BRANCHES, None)
        return ShownConversation(
            conversation=view.conversation,
            head=head_of(view.conversation, path),
            part=part_of(view.conversation, _number(request, "from"), _number(request, "at")),
            progress=progress_of(app, conversation_id),
            notices=view.notices,
            branches=tuple((each.conversation_id, each.title) for each in found.conversations),
            kinds=kinds_for(view.conversation, app),
        )

    async def part(self, request: Request) -> Response:
        """Return some sections: `from` one on, with `live` up to the end; 304 if they are as the browser knows them."""
        app, conversation_id = self._desk.app(request), check_id(request.path_params["id"])
        view = await self._view(request, conversation_id)
        part = part_of(view.conversation, _number(request, "from") or 0, to_end="live" in request.query_params)
        answer = self._desk.page(
            request,
            "part.html",
            part=part,
            conversation_id=conversation_id,
            progress=progress_of(app, conversation_id),
        )
        tag = f'W/"{hash(answer.body):x}"'
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304)
        answer.headers["etag"] = tag
        return answer

    async def raw(self, request: Request) -> Response:
        """Return conversation.json as it is."""
        app, conversation_id = self._desk.app(request), check_id(request.path_params["id"])
        body = await to_thread.run_sync(app.store.finder.read, conversation_id)
        text = visit_of(request).cover(body.decode(errors="replace")) if app.is_remote else body
        return Response(text, media_type="text/plain; charset=utf-8")

    async def export(self, request: Request) -> Response:
        """Return the conversation in another format, as a file to keep."""
        name = request.query_params.get("format", "")
        if name not in get_args(FormatName):
            return PlainTextResponse("There is no such format.\n", 404)
        app, conversation_id = self._desk.app(request), check_id(request.path_params["id"])
        conversation = await app.store.load(conversation_id)
        chosen = await to_thread.run_sync(export_format, cast("FormatName", name))
        contents = await app.store.attachments.get(conversation_id, contents_named_in(conversation))
        text = await to_thread.run_sync(partial(chosen.render, conversation, contents))
        # ASCII only, so that no browser has to guess its encoding.
        name = file_name(conversation, chosen.suffix).encode("ascii", "ignore").decode().replace('"', "")
        return Response(
            visit_of(request).cover(text).encode("utf-8", "replace"),
            media_type="application/octet-stream",
            headers={"content-disposition": f'attachment; filename="{name}"'},
        )

    async def _view(self, request: Request, conversation_id: ConversationId) -> View:
        owner, app = visit_of(request).owner, self._desk.app(request)
        view = await app.watch.look(conversation_id, Caller(0, owner=owner))
        await self._asked.shown(owner, view.conversation, app)
        return view


def progress_of(app: App, conversation_id: ConversationId) -> str:
    """Return what the running turn does; empty if none runs in this process."""
    turn = app.running.on(conversation_id)
    return turn.audience.headline if turn else ""


async def _itself(made: ShownConversation) -> ShownConversation:
    return made


def _number(request: Request, name: str) -> int | None:
    text = request.query_params.get(name, "")
    return int(text) if text.isdecimal() and text.isascii() and len(text) <= MAX_NUMBER_DIGITS else None
