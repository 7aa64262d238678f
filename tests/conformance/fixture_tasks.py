"""Tasks that ask the client for input, which no tool of the product does: before they begin, and while they run."""

from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types import CallToolRequestParams, ElicitResult, EmptyResult, InputRequiredResult
from tests.conformance.fixture_rounds import form
from tests.conformance.fixture_turns import NAMED, OpenRequests

from conversation_mcp.server.task_states import Task, place_of
from conversation_mcp.server.tasks import TaskParams, TasksExtension, TaskUpdateParams
from conversation_mcp.turns.stored_turns import find_turn

Request = ServerRequestContext[Any, Any]


class SuiteTasks(TasksExtension):
    """The product's tasks, and beside them what the runs of the suite's provider ask for."""

    requests: OpenRequests

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: Request, call_next: CallNext
    ) -> HandlerResult:
        if params.name == NAMED.name:
            answer = (params.input_responses or {}).get("user_name")
            if not isinstance(answer, ElicitResult):
                return InputRequiredResult(input_requests={"user_name": form("What is your name?", "name")})
            params = params.model_copy(update={"arguments": answer.content})
        return await super().intercept_tool_call(params, ctx, call_next)

    async def _get(self, context: Request, params: TaskParams) -> Task:
        task = await super()._get(context, params)
        waiting = self.requests.of(await _question(context, params)) if task["status"] == "working" else {}
        if not waiting:
            return task
        shown = {key: request.model_dump(by_alias=True, exclude_none=True) for key, request in waiting.items()}
        return {**task, "status": "input_required", "inputRequests": shown}

    async def _update(self, context: Request, params: TaskUpdateParams) -> EmptyResult:
        acknowledged = await super()._update(context, params)
        self.requests.answer(await _question(context, params), params.input_responses)
        return acknowledged


async def _question(context: Request, params: TaskParams) -> str:
    place = place_of(params.task_id)
    conversation = await context.lifespan_context.store.load(place.conversation_id)
    found = find_turn(conversation, place.started_at)
    return getattr(found, "question", "")
