"""Tool calls: arguments in, a result or an error result out."""

import logging
import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeVar, cast

import mcp.types
from anyio import to_thread
from mcp.types import CallToolResult, TextContent, ToolAnnotations

from conversation_mcp.app import App
from conversation_mcp.errors import ConversationMCPError, InternalError, InvalidInputError, Steps
from conversation_mcp.records.record import Record
from conversation_mcp.text import shorten, storable, storable_data
from conversation_mcp.tooling.arguments import parse
from conversation_mcp.tooling.fitting import fit
from conversation_mcp.tooling.schema import input_schema
from conversation_mcp.tooling.steps import steps_of
from conversation_mcp.tools.catalog import AnyTool, meant_by
from conversation_mcp.turns.ask import Caller
from conversation_mcp.turns.result import TurnResult

logger = logging.getLogger(__name__)

RecordT = TypeVar("RecordT", bound=Record)


class ToolCalls:
    """The enabled tools, as clients see and call them."""

    def __init__(self, tools: Iterable[AnyTool], max_chars: int) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._max_chars = max_chars

    @property
    def tools(self) -> tuple[AnyTool, ...]:
        """The tools, in the order that clients see."""
        return tuple(self._tools.values())

    @property
    def steps(self) -> Steps:
        """The names of the steps that an error may advise."""
        return steps_of(self.tools)

    @property
    def names(self) -> frozenset[str]:
        """The names of the tools."""
        return frozenset(self._tools)

    def listed(self) -> list[mcp.types.Tool]:
        """Return the tools as the protocol lists them, always in the same order."""
        return [shown(tool) for tool in self.tools]

    async def call(self, name: str, arguments: Mapping[str, Any], app: App, caller: Caller) -> CallToolResult:
        """Run a tool; every failure becomes an error result that says what to do next."""
        try:
            # In a thread: a refusal reads the names that other servers give to tools from a file.
            tool = self._tools.get(name) or await to_thread.run_sync(self._refuse, name)
            return self.as_result(await tool.run(parse(tool, arguments), app, caller), tool.render)
        except ConversationMCPError as error:
            return self.as_error(error)
        except Exception:
            # The client gets a reference to the log: an unknown error may quote what it must not see.
            reference = secrets.token_hex(4)
            logger.exception("tool %s failed unexpectedly, reference %s", name, reference)
            return self.as_error(InternalError(reference))

    def as_result(self, record: RecordT, render: Callable[[RecordT], str]) -> CallToolResult:
        """Return the record as text and as data; a long answer is cut in both."""
        fitted = cast("RecordT", fit(record, self._max_chars)) if isinstance(record, TurnResult) else record
        return _result(render(fitted), fitted.data())

    def as_error(self, error: ConversationMCPError) -> CallToolResult:
        """Return the error as text and as data; it names only enabled tools."""
        return _result(error.sentence(self.steps), error.data(self.steps), is_error=True)

    def _refuse(self, name: str) -> NoReturn:
        known, hint = ", ".join(self._tools), meant_by(name, self._tools)
        raise InvalidInputError(f"there is no tool {shorten(name, 60)!r}; there are {known}.{hint}")


def _result(text: str, data: dict[str, Any], *, is_error: bool = False) -> CallToolResult:
    """Return a result in both forms, without lone surrogates: one would end the connection and with it the server."""
    return CallToolResult(
        content=[TextContent(text=storable(text))], structured_content=storable_data(data), is_error=is_error
    )


def shown(tool: AnyTool) -> mcp.types.Tool:
    """Return the tool as the protocol lists it."""
    hints = tool.hints
    return mcp.types.Tool(
        name=tool.name,
        title=tool.title or None,
        description=tool.description,
        input_schema=input_schema(tool),
        annotations=ToolAnnotations(
            read_only_hint=hints.read_only,
            destructive_hint=hints.destructive,
            idempotent_hint=hints.idempotent,
            open_world_hint=hints.open_world,
        ),
    )
