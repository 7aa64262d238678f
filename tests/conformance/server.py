"""The product's server with the fixtures that the official suite asks for, on loopback HTTP."""

from collections.abc import Callable
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.server import require_client_extension
from mcp.types import CallToolResult, EmptyResult, GetPromptResult, InputRequiredResult, SetLevelRequestParams, Tool
from starlette.applications import Starlette
from tests.conformance import fixture_content, fixture_rounds, fixture_sessions, fixture_turns
from tests.conformance.events import EventsInMemory
from tests.conformance.fixture_tasks import SuiteTasks

from conversation_mcp.app import App
from conversation_mcp.bootstrap import open_app
from conversation_mcp.server import ConversationServer
from conversation_mcp.server.tasks import IDENTIFIER, TasksExtension
from conversation_mcp.settings import Settings
from conversation_mcp.tools.catalog import tools_of


class SuiteServer(ConversationServer):
    """The real server with the suite's tools, resources and prompts beside its own."""

    def __init__(self, settings: Settings) -> None:
        self._requests = fixture_turns.OpenRequests()
        provider = fixture_turns.SuiteProvider(self._requests)
        tools = (*tools_of(settings.tools), *fixture_turns.TURN_TOOLS)
        super().__init__(settings, lambda: open_app(settings, providers=[provider]), {}, tools)
        for tool in (*fixture_content.TOOLS, *fixture_sessions.TOOLS, *fixture_rounds.TOOLS):
            self.add_tool(tool, description=f"Fixture {tool.__name__}.")
        for uri, read in fixture_content.RESOURCES.items():
            self.resource(uri, description="Fixture.")(read)
        prompts: tuple[Callable[..., Any], ...] = (*fixture_content.PROMPTS, *fixture_rounds.PROMPTS)
        for prompt in prompts:
            self.add_prompt(Prompt.from_function(prompt, description="Fixture."))
        self._own = self._calls.names
        schemas = self._tool_manager.get_tool("json_schema_2020_12_tool")
        assert schemas is not None
        schemas.parameters = fixture_content.FULL_SCHEMA
        self._lowlevel_server.add_request_handler("logging/setLevel", SetLevelRequestParams, _set_level)

    def _tasks(self) -> TasksExtension:
        tasks = SuiteTasks(self._calls, self._caller)
        tasks.requests = self._requests
        return tasks

    async def list_tools(self) -> list[Tool]:
        return [*await super().list_tools(), *await MCPServer.list_tools(self)]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[App] | None = None
    ) -> CallToolResult | InputRequiredResult:
        if name == fixture_turns.FAILING_JOB.name and context is not None:
            require_client_extension(context.request_context, IDENTIFIER)
        if name in self._own:
            return await super().call_tool(name, arguments, context)
        return await MCPServer.call_tool(self, name, arguments, context)

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[App] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        if name in self._prompts:
            return await super().get_prompt(name, arguments, context)
        return await MCPServer.get_prompt(self, name, arguments, context)


async def _set_level(_context: ServerRequestContext[Any, Any], _params: SetLevelRequestParams) -> EmptyResult:
    return EmptyResult()


def web_app(settings: Settings) -> Starlette:
    """Return the server with the fixtures as a web application with sessions, which some scenarios need."""
    return SuiteServer(settings).streamable_http_app(event_store=EventsInMemory(), retry_interval=100)
