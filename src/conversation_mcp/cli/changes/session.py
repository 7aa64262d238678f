"""What the commands share that put conversations in order: which are meant, the open program, and work on each."""

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

import anyio

from conversation_mcp.cli.output.terminal import say
from conversation_mcp.cli.selection.ids import resolve
from conversation_mcp.cli.setup import finder_of
from conversation_mcp.cli.usage import WrongUsageError
from conversation_mcp.errors import ConversationMCPError, InvalidInputError
from conversation_mcp.tooling.steps import COMMANDS

if TYPE_CHECKING:
    from conversation_mcp.app import App
    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.settings import Settings

T = TypeVar("T")


def opened(settings: "Settings", work: "Callable[[App], Awaitable[T]]") -> T:
    """Do the work with the program open; afterwards the index knows of it.

    Raises:
        WrongUsageError: an argument cannot be taken.
    """
    try:
        return anyio.run(_opened, settings, work)
    except InvalidInputError as error:
        raise WrongUsageError(error.message_with({"messageNumber": "NUMBER"})) from None


async def _opened(settings: "Settings", work: "Callable[[App], Awaitable[T]]") -> T:
    from conversation_mcp.bootstrap import open_app

    async with open_app(settings) as app:
        try:
            return await work(app)
        finally:
            await app.library.take_in()


def resolved(settings: "Settings", wanted: Iterable[str], *, archived: bool = False) -> "list[ConversationId]":
    """Return the ids that are meant, each once, before anything is done to the first of them."""
    finder = finder_of(settings)
    return list(dict.fromkeys(resolve(finder, text, archived=archived) for text in wanted))


async def on_each(wanted: Iterable[T], work: Callable[[T], Awaitable[object]]) -> list[str]:
    """Do the work on each, and return what went wrong; it keeps nothing from the others."""
    problems: list[str] = []
    for each in wanted:
        try:
            await work(each)
        except InvalidInputError:
            raise
        except ConversationMCPError as error:
            problems.append(error.sentence(COMMANDS))
            say(problems[-1])
    return problems
