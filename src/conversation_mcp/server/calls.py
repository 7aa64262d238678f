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
from conversation_mcp.server.handed import handed_schema, has_contents, take_contents
from conversation_mcp.server.veil import Veil
from conversation_mcp.text import shorten, storable, storable_data
from conversation_mcp.tooling.arguments import parse
from conversation_mcp.tooling.fitting import fit
from conversation_mcp.tooling.schema import input_schema
from conversation_mcp.tooling.steps import steps_of
from conversation_mcp.tooling.users import home_with
from conversation_mcp.tools.catalog import AnyTool, meant_by
from conversation_mcp.turns.ask import Caller
from conversation_mcp.turns.result import TurnResult

logger = logging.getLogger(__name__)

NO_CONTENTS: Mapping[str, bytes] = {}

RecordT = TypeVar("RecordT", bound=Record)


class ToolCalls:
    """The enabled tools, as clients see and call them."""

    def __init__(self, tools: Iterable[AnyTool], max_chars: int, veil: Veil | None = None) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._max_chars = max_chars
        self._veil = veil

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
        return [shown(tool, takes_contents=self._veil is not None) for tool in self.tools]

    async def call(self, name: str, arguments: Mapping[str, Any], app: App, caller: Caller) -> CallToolResult:
        """Run a tool; every failure becomes an error result that says what to do next."""
        try:
            # In a thread: a refusal reads the names that other servers give to tools from a file.
            tool = self._tools.get(name) or await to_thread.run_sync(self._refuse, name)
            if self._veil is not None:
                arguments, handed = await _taken(arguments)
                caller = caller._replace(handed=handed)
            given = parse(tool, arguments)
            if app.homes is None:
                return self.as_result(await tool.run(given, app, caller), tool.render)
            async with home_with(given, app, tool.name) as home:
                return self.as_result(await tool.run(given, home, caller._replace(owner=home.owner)), tool.render)
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
        if self._veil is None:
            return _result(render(fitted), fitted.data())
        if getattr(fitted, "conversation_path", None):
            fitted = cast("RecordT", fitted.model_copy(update={"conversation_path": None}))
        return _result(self._veil.text(render(fitted)), self._veil.data(fitted.data()))

    def as_error(self, error: ConversationMCPError) -> CallToolResult:
        """Return the error as text and as data; it names only enabled tools."""
        sentence, data = error.sentence(self.steps), error.data(self.steps)
        if self._veil is not None:
            sentence = self._veil.sentences(sentence)
            data = {**self._veil.data(data), "message": sentence.removeprefix(f"{error.code}: ")}
        return _result(sentence, data, is_error=True)

    def told(self, error: ConversationMCPError) -> str:
        """Return the error as one text, as clients may read it."""
        sentence = error.sentence(self.steps)
        return sentence if self._veil is None else self._veil.sentences(sentence)

    def seen(self, text: str) -> str:
        """Return a text that is no result of a tool, as clients may read it."""
        return text if self._veil is None else self._veil.text(text)

    def _refuse(self, name: str) -> NoReturn:
        known, hint = ", ".join(self._tools), meant_by(name, self._tools)
        raise InvalidInputError(f"there is no tool {shorten(name, 60)!r}; there are {known}.{hint}")


async def _taken(arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, bytes]]:
    """Take the contents out of the arguments; in a thread if there are any, because decoding takes a while."""
    if not has_contents(arguments):
        return arguments, NO_CONTENTS
    return await to_thread.run_sync(take_contents, arguments)


def _result(text: str, data: dict[str, Any], *, is_error: bool = False) -> CallToolResult:
    """Return a result in both forms, without lone surrogates: one would end the connection and with it the server."""
    return CallToolResult(
        content=[TextContent(text=storable(text))], structured_content=storable_data(data), is_error=is_error
    )


def shown(tool: AnyTool, *, takes_contents: bool = False) -> mcp.types.Tool:
    """Return the tool as the protocol lists it; callers elsewhere hand over contents instead of paths."""
    schema = input_schema(tool)
    hints = tool.hints
    return mcp.types.Tool(
        name=tool.name,
        title=tool.title or None,
        description=tool.description,
        input_schema=handed_schema(schema) if takes_contents else schema,
        annotations=ToolAnnotations(
            read_only_hint=hints.read_only,
            destructive_hint=hints.destructive,
            idempotent_hint=hints.idempotent,
            open_world_hint=hints.open_world,
        ),
    )
