"""The suite's fixtures that speak with the client while they run."""

from typing import Any

import anyio
from mcp import MCPError
from mcp.server.mcpserver import Context
from mcp.shared.message import ServerMessageMetadata
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel, Field, create_model

STATES = ["active", "inactive", "pending"]


async def test_tool_with_logging(ctx: Context) -> str:
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        params = LoggingMessageNotificationParams(level="info", data=text)
        await ctx.session.send_notification(LoggingMessageNotification(params=params), ctx.request_id)
    return "Tool with logging executed successfully"


async def test_tool_with_progress(ctx: Context) -> str:
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"Completed step {done} of 100")
    return str((ctx.request_context.meta or {}).get("progress_token", 0))


async def test_missing_capability(ctx: Context) -> str:
    declared = ctx.client_capabilities
    if declared is None or declared.sampling is None:
        data: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "this tool needs sampling.", data)
    return "The client can sample."


async def test_reconnection(ctx: Context) -> str:
    await ctx.close_sse_stream()
    await anyio.sleep(0.2)
    return "Reconnection test completed"


async def test_trigger_tool_change(ctx: Context) -> str:
    await ctx.notify_tools_changed()
    return "tool list changed"


async def test_trigger_prompt_change(ctx: Context) -> str:
    await ctx.notify_prompts_changed()
    return "prompt list changed"


async def test_sampling(prompt: str, ctx: Context) -> str:
    message = SamplingMessage(role="user", content=TextContent(text=prompt))
    request = CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=100))
    metadata = ServerMessageMetadata(related_request_id=ctx.request_id)
    result = await ctx.session.send_request(request, CreateMessageResult, metadata=metadata)
    return f"LLM response: {result.content.text if isinstance(result.content, TextContent) else '?'}"


class UserResponse(BaseModel):
    response: str = Field(description="User's response")


class Defaults(BaseModel):
    name: str = Field(default="John Doe", description="User name")
    age: int = Field(default=30, description="User age")
    score: float = Field(default=95.5, description="User score")
    status: str = Field(default="active", description="User status", json_schema_extra={"enum": list(STATES)})
    verified: bool = Field(default=True, description="Verification status")


def titled(*titles: str) -> list[dict[str, str]]:
    return [{"const": title.split()[0].lower(), "title": title} for title in titles]


def choice(kind: type, **schema: Any) -> tuple[type, Any]:
    return kind, Field(json_schema_extra=schema)


ENUMS = create_model(
    "Enums",
    untitledSingle=choice(str, enum=STATES),
    titledSingle=choice(str, oneOf=titled("Low Priority", "Medium Priority", "High Priority")),
    untitledMulti=choice(list[str], items={"type": "string", "enum": ["read", "write", "run"]}),
    titledMulti=choice(list[str], items={"anyOf": titled("Feature", "Bug", "Docs")}),
    legacyEnum=choice(str, enum=["small", "large"], enumNames=["Small Size", "Large Size"]),
)


async def asked(ctx: Context, message: str, schema: type[BaseModel]) -> str:
    result = await ctx.elicit(message=message, schema=schema)
    content = result.data.model_dump_json() if result.action == "accept" else "{}"
    return f"action={result.action}, content={content}"


async def test_elicitation(message: str, ctx: Context) -> str:
    return f"User response: {await asked(ctx, message, UserResponse)}"


async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    return f"Elicitation completed: {await asked(ctx, 'Please provide user information', Defaults)}"


async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    return f"Elicitation completed: {await asked(ctx, 'Please choose', ENUMS)}"


TOOLS = (
    test_tool_with_logging,
    test_tool_with_progress,
    test_missing_capability,
    test_reconnection,
    test_trigger_tool_change,
    test_trigger_prompt_change,
    test_sampling,
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
)
