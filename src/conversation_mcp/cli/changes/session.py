"""A session of a command that changes conversations: resolve the ids, open the app, and work on each conversation."""

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

import anyio

from conversation_mcp.cli.output.terminal import say
from conversation_mcp.cli.selection.ids import resolve
from conversation_mcp.cli.setup import finder_of
from conversation_mcp.errors import ConversationMCPError, InvalidInputError
from conversation_mcp.tooling.steps import COMMANDS

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from conversation_mcp.app import App
    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.settings import Settings

T = TypeVar("T")


def opened(settings: "Settings", work: "Callable[[App], Awaitable[T]]") -> T:
    """Do the work with the open app, then bring the index up to date.

    Raises:
        InvalidInputError: an argument is not valid.
    """
    from conversation_mcp.bootstrap import open_app  # outside of the loop: it reads files

    try:
        return anyio.run(_opened, open_app(settings), work)
    except InvalidInputError as error:
        raise InvalidInputError(error.message_with({"messageNumber": "NUMBER", "exact": "--exact"})) from None


async def _opened(opening: "AbstractAsyncContextManager[App]", work: "Callable[[App], Awaitable[T]]") -> T:
    async with opening as app:
        try:
            return await work(app)
        finally:  # even after an error: the work on earlier conversations may be done
            await app.library.take_in()


def resolved(settings: "Settings", wanted: Iterable[str], *, archived: bool = False) -> "list[ConversationId]":
    """Return the ids that are meant, each once; a wrong one fails here, before the first conversation is changed."""
    finder = finder_of(settings)
    return list(dict.fromkeys(resolve(finder, text, archived=archived) for text in wanted))


async def on_each(wanted: Iterable[T], work: Callable[[T], Awaitable[object]]) -> list[str]:
    """Do the work on each and return the problems; a failure of one does not stop the others."""
    problems: list[str] = []
    for each in wanted:
        try:
            await work(each)
        except InvalidInputError:  # an argument is wrong, so each of the others would fail alike
            raise
        except ConversationMCPError as error:
            problems.append(error.sentence(COMMANDS))
            say(problems[-1])
    return problems
