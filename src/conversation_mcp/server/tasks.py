"""The tasks extension: a client that declares it gets a task for each question and polls for the answer."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver.server import require_client_extension
from mcp.types import HEADER_MISMATCH, CallToolRequestParams, EmptyResult, InputResponses, RequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ConfigDict, JsonValue

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.server.calls import ToolCalls
from conversation_mcp.server.roots import wanted_roots
from conversation_mcp.turns.ask import Caller, QuestionPlace

IDENTIFIER = "io.modelcontextprotocol/tasks"
VERSIONS = frozenset(MODERN_PROTOCOL_VERSIONS)

Request = ServerRequestContext[Any, Any]


class TaskParams(RequestParams):
    """The parameters that name a task."""

    model_config = ConfigDict(defer_build=True)  # building it takes 10 ms of the start, and few clients use tasks

    task_id: str


class TaskUpdateParams(TaskParams):
    """The input that a task has asked for; our tasks never ask."""

    input_responses: dict[str, JsonValue]


class CallerOf(Protocol):
    """Returns the asker of a request."""

    def __call__(self, request: Request, responses: InputResponses | None = None, /) -> Caller:
        """Return the asker; `responses` are what the client sent because it was asked for it."""
        ...


class TasksExtension(Extension):
    """Serves tasks on top of the turn engine; it keeps no state of its own."""

    identifier = IDENTIFIER

    def __init__(self, calls: ToolCalls, caller_of: CallerOf, *, asks_for_roots: bool = True) -> None:
        self._calls = calls
        self._caller_of = caller_of
        self._asks_for_roots = asks_for_roots

    def methods(self) -> Sequence[MethodBinding]:
        """Return the methods with which a client polls and cancels."""
        return (
            MethodBinding("tasks/get", TaskParams, self._get, VERSIONS),
            MethodBinding("tasks/cancel", TaskParams, self._cancel, VERSIONS),
            MethodBinding("tasks/update", TaskUpdateParams, self._update, VERSIONS),
        )

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: Request, call_next: CallNext
    ) -> HandlerResult:
        """Answer with a task as soon as a question is on disk; tools that ask nothing answer as usual."""
        if params.name not in self._calls.names or not is_declared(ctx):
            return await call_next(ctx)
        wanted = wanted_roots(ctx, params.arguments or {}, params.input_responses) if self._asks_for_roots else None
        if wanted:
            return wanted
        places: list[QuestionPlace] = []
        caller = self._caller_of(ctx, params.input_responses)._replace(on_asked=places.append)
        result = await self._calls.call(params.name, params.arguments or {}, ctx.lifespan_context, caller)
        if not places:
            return result
        from conversation_mcp.server.task_states import working

        return {"resultType": "task", **working(places[0])}

    async def _get(self, context: Request, params: TaskParams) -> dict[str, Any]:
        from conversation_mcp.server.task_states import state_of

        place = _place(context, params)
        return await state_of(place, context.lifespan_context, self._calls, self._caller_of(context))

    async def _cancel(self, context: Request, params: TaskParams) -> EmptyResult:
        """Stop this question and no other of its conversation; a failure to stop it shows in the next state."""
        from conversation_mcp.server.task_states import is_unfinished

        place = _place(context, params)
        # Checked first: `stop` ends whatever question of the conversation runs, which may be a later one.
        if await is_unfinished(place, context.lifespan_context, self._calls):
            with suppress(ConversationMCPError):
                await context.lifespan_context.watch.stop(place.conversation_id)
        return EmptyResult()

    async def _update(self, context: Request, params: TaskUpdateParams) -> EmptyResult:
        from conversation_mcp.server.task_states import is_unfinished

        # Looked up although there is nothing to update: a task that does not exist must be an error.
        await is_unfinished(_place(context, params), context.lifespan_context, self._calls)
        return EmptyResult()


def is_declared(context: Request) -> bool:
    """Tell whether the client has declared with this very request that it knows tasks."""
    capabilities = context.session.client_capabilities
    declared = (capabilities.extensions if capabilities else None) or {}
    return IDENTIFIER in declared and context.protocol_version in VERSIONS


def _place(context: Request, params: TaskParams) -> QuestionPlace:
    from conversation_mcp.server.task_states import place_of

    require_client_extension(context, IDENTIFIER)
    headers = getattr(context.request, "headers", None)  # None on stdio; over HTTP the header must repeat the id
    if headers is not None and headers.get("mcp-name") != params.task_id:
        raise MCPError(code=HEADER_MISMATCH, message="the Mcp-Name header must be the taskId.")
    return place_of(params.task_id)
