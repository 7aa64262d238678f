"""The suite's fixtures of the new era that need input from the client, over several rounds."""

import json
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)

Answer = str | InputRequiredResult


def form(message: str, name: str, kind: str = "string") -> ElicitRequest:
    schema: dict[str, Any] = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sampling(question: str) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(text=question))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=50))


def filled_in(ctx: Context, key: str, name: str) -> str | None:
    """Return what the user filled in; None when there is no valid answer yet."""
    answer = (ctx.input_responses or {}).get(key)
    if not isinstance(answer, ElicitResult):
        return None
    return str((answer.content or {}).get(name, "?"))


async def test_input_required_result_elicitation(ctx: Context) -> Answer:
    name = filled_in(ctx, "user_name", "name")
    if name is None:
        return InputRequiredResult(input_requests={"user_name": form("What is your name?", "name")})
    return f"Hello, {name}!"


async def test_input_required_result_sampling(ctx: Context) -> Answer:
    if "capital_question" in (ctx.input_responses or {}):
        return "The model has answered."
    return InputRequiredResult(input_requests={"capital_question": sampling("What is the capital of France?")})


async def test_input_required_result_list_roots(ctx: Context) -> Answer:
    if "client_roots" in (ctx.input_responses or {}):
        return "The client has told its roots."
    return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})


async def test_input_required_result_request_state(ctx: Context) -> Answer:
    if "confirm" in (ctx.input_responses or {}) and ctx.request_state == "nonce":
        return "state-ok: confirmation received"
    return InputRequiredResult(
        input_requests={"confirm": form("Please confirm", "ok", "boolean")}, request_state="nonce"
    )


async def test_input_required_result_tampered_state(ctx: Context) -> Answer:
    if ctx.request_state is not None:
        return f"state-ok: {ctx.request_state}"
    return InputRequiredResult(input_requests={"confirm": form("Please confirm", "ok", "boolean")}, request_state="one")


async def test_input_required_result_multiple_inputs(ctx: Context) -> Answer:
    requests: dict[str, InputRequest] = {
        "user_name": form("What is your name?", "name"),
        "greeting": sampling("Generate a greeting"),
        "client_roots": ListRootsRequest(),
    }
    if requests.keys() <= (ctx.input_responses or {}).keys():
        return "All inputs received."
    return InputRequiredResult(input_requests=requests, request_state="several")


async def test_input_required_result_multi_round(ctx: Context) -> Answer:
    state: dict[str, Any] = json.loads(ctx.request_state) if ctx.request_state else {"round": 0}
    name, color = filled_in(ctx, "step1", "name"), filled_in(ctx, "step2", "color")
    if state["round"] == 2 and color is not None:
        return f"{state['name']} likes {color}."
    if state["round"] == 1 and name is not None:
        asked, then = {"step2": form("Step 2: What is your favorite color?", "color")}, {"round": 2, "name": name}
    else:
        asked, then = {"step1": form("Step 1: What is your name?", "name")}, {"round": 1}
    return InputRequiredResult(input_requests=dict(asked), request_state=json.dumps(then))


async def test_input_required_result_capabilities(ctx: Context) -> InputRequiredResult:
    declared = ctx.client_capabilities
    requests: dict[str, InputRequest] = {}
    if declared is None or declared.sampling is not None:
        requests["sample"] = sampling("Say hello")
    if declared is None or declared.elicitation is not None:
        requests["ask"] = form("What is your name?", "name")
    return InputRequiredResult(input_requests=requests, request_state="capabilities")


async def test_input_required_result_prompt(ctx: Context) -> list[Message] | InputRequiredResult:
    text = filled_in(ctx, "user_context", "context")
    if text is None:
        requests: dict[str, InputRequest] = {"user_context": form("What context should the prompt use?", "context")}
        return InputRequiredResult(input_requests=requests)
    return [UserMessage(content=f"Use the following context: {text}")]


TOOLS = (
    test_input_required_result_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_tampered_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_capabilities,
)
PROMPTS = (test_input_required_result_prompt,)
