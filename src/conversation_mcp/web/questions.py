"""Questions from a page, asked through the turn engine like any other."""

from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from conversation_mcp.app import App
from conversation_mcp.errors import ConversationMCPError, InvalidInputError
from conversation_mcp.providers.choosing.offer import list_offer
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import Conversation
from conversation_mcp.records.modes import Mode
from conversation_mcp.stores.base import Call
from conversation_mcp.tooling.arguments import parse
from conversation_mcp.tools.catalog import AnyTool, asking_tool
from conversation_mcp.turns.ask import Caller, QuestionPlace
from conversation_mcp.turns.earlier_calls import note_told
from conversation_mcp.turns.kept import last_asked
from conversation_mcp.web.desk import Desk, back, sentence, status_of, visit_of

KINDS: dict[str, Mode] = {"search": "search", "research": "deep_research", "chat": "chat"}
WORDS = {"search": "Search", "research": "Research", "chat": "Chat"}
NOTHING_TYPED = {"question": "", "model": ""}
WAIT_SECONDS = 30.0
"""How long the browser waits until the question is on disk, such as for another one before it."""
OFFERED = 200


class KindChoice(NamedTuple):
    """A way to ask, as the form offers it."""

    name: str
    words: str
    is_usual: bool


class AskedQuestions:
    """Questions of these pages whose answers no page has shown yet: until then, asking again joins them."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], QuestionPlace] = {}

    def add(self, owner: str, place: QuestionPlace) -> None:
        """Remember a question that is on disk."""
        self._places[owner, place.conversation_id] = place

    async def shown(self, owner: str, conversation: Conversation, app: App) -> None:
        """Note that a page shows the conversation, and with it the answer if that is there."""
        if conversation.pending_turn is not None and conversation.pending_turn.status == "running":
            return
        if place := self._places.pop((owner, conversation.conversation_id), None):
            call = Call(place.conversation_id, place.started_at)
            await note_told(app.store.calls, place.key, call, stays=False)


class Questions:
    """Asks, stops, and shows which models there are."""

    def __init__(self, desk: Desk, asked: AskedQuestions) -> None:
        self._desk = desk
        self._asked = asked

    async def form(self, request: Request) -> Response:
        """Return the page on which a new conversation begins."""
        return self._desk.page(
            request, "ask.html", kinds=kinds_for(None, self._desk.app(request)), given=NOTHING_TYPED, problem=""
        )

    async def ask(self, request: Request) -> Response:
        """Ask, and lead to the conversation as soon as the question is kept there."""
        app, fields = self._desk.app(request), await self._desk.form(request)
        given_id = request.path_params.get("id")
        conversation_id = check_id(given_id) if given_id else None
        kind, question = fields.get("kind", ""), fields.get("question", "")
        places: list[QuestionPlace] = []
        try:
            if kind not in KINDS:
                raise InvalidInputError("choose whether to search, research or chat.")
            tool = asking_tool(KINDS[kind], follows=conversation_id is not None)
            given = parse(tool, _arguments(tool, question, fields.get("model", ""), conversation_id))
            owner = visit_of(request).owner
            caller = Caller(WAIT_SECONDS, owner=owner, on_asked=places.append, is_gone=request.is_disconnected)
            result = await tool.run(given, app, caller)
        except ConversationMCPError as error:
            if (
                error.conversation_id and error.conversation_id != conversation_id
            ):  # it was opened, and keeps the question
                return back(f"/c/{error.conversation_id}#end")
            kinds = kinds_for(None, app, usual=kind)
            facts = {
                "kinds": kinds,
                "given": {**NOTHING_TYPED, **fields},
                "problem": sentence(error, request),
                "conversation_id": conversation_id,
            }
            return self._desk.page(request, "ask.html", status_of(error), **facts)
        for place in places:
            self._asked.add(visit_of(request).owner, place)
        await app.library.take_in()
        return back(f"/c/{result.data()['conversationId']}#end")

    async def stop(self, request: Request) -> Response:
        """Stop the question that is being answered."""
        await self._desk.form(request)
        conversation_id = check_id(request.path_params["id"])
        await self._desk.app(request).watch.stop(conversation_id)
        return back(f"/c/{conversation_id}#end")

    async def models(self, request: Request) -> Response:
        """Return the names of models as options of an input."""
        offer = await list_offer(
            self._desk.app(request).providers, query="", provider=None, ability=None, limit=OFFERED
        )
        names = [model.name for model in offer.models if model.refused is None]
        return self._desk.page(request, "models.html", names=names)


def kinds_for(conversation: Conversation | None, app: App, usual: str = "") -> list[KindChoice]:
    """Return the ways to ask; the usual one is that of the last question."""
    last = last_asked(conversation) if conversation else None
    mode = app.mode_of(last.tool) if last else None
    usual = usual or next((name for name, each in KINDS.items() if each == mode), "search")
    return [KindChoice(name, WORDS[name], name == usual) for name in KINDS]


def _arguments(tool: AnyTool, question: str, model: str, conversation_id: str | None) -> dict[str, object]:
    name = "prompt" if tool.mode == "chat" else "query"
    given: dict[str, object] = {name: question}
    if model.strip():
        given["model"] = model.strip()
    if conversation_id:
        given["conversationId"] = conversation_id
    return given
