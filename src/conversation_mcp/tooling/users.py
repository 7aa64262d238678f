"""The users of a chatbot: each has a home of its own, which the argument `userId` of the log's tools chooses.

Over HTTP the home is chosen before a tool is called, by whoever sends the request; here it is only compared.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import wraps
from typing import Annotated, Any

from pydantic import AfterValidator, Field, create_model

from conversation_mcp.app import App
from conversation_mcp.errors import ConversationNotFoundError, ForbiddenError, InvalidInputError
from conversation_mcp.owners import REQUIREMENT, is_owner
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.models import ConversationId
from conversation_mcp.records.record import Record
from conversation_mcp.tooling.tool import Input, Tool
from conversation_mcp.turns.ask import Caller


def _user(name: str) -> str:
    if not is_owner(name):
        raise ValueError(REQUIREMENT)
    return name


UserId = Annotated[str, AfterValidator(_user)]


class UserInput(Input):
    """The user whose home it is."""

    user_id: UserId = Field(alias="userId")
    """Whose conversation it is; an argument only where the set `log` is on."""


def for_users(tool: Tool[Any, Any]) -> Tool[Any, Any]:
    """Return the tool with the argument `userId`: it works in the home of that user."""

    @wraps(tool.run)
    async def run(given: Any, app: App, caller: Caller) -> Record:  # noqa: ANN401 -- the input of whichever tool
        if app.homes is None:
            if given.user_id != app.owner:
                raise await _refusal(given, app, caller)
            return await _run(tool, given, app, caller)
        await app.homes.note(given.user_id, tool.name, [*filter(None, [_named(given)])])
        async with app.homes.of(given.user_id) as home:
            return await _run(tool, given, home, caller._replace(owner=home.owner))

    bases = (UserInput, tool.input_model)
    model = create_model(f"{tool.name}_of_user", __base__=bases, __module__=__name__, __doc__=tool.input_model.__doc__)
    return replace(tool, input_model=model, run=run)


async def _run(tool: Tool[Any, Any], given: Any, app: App, caller: Caller) -> Record:  # noqa: ANN401 -- as above
    try:
        return await tool.run(given, app, caller)
    except ConversationNotFoundError:
        raise await _refusal(given, app, caller) from None


async def _refusal(given: Input, app: App, caller: Caller) -> Exception:
    """Return why the call is refused; the conversation of somebody unknown to the caller does not exist."""
    user: str = getattr(given, "user_id", app.owner)
    conversation_id = _named(given)
    if conversation_id is None:
        return ForbiddenError(f"{user!r} is not a user for whom this token may act.")
    holders = [owner for owner in await app.holders(conversation_id) if owner != user]
    if any(app.homes is not None or owner == app.owner or caller.may_act_for(owner) for owner in holders):
        return ForbiddenError(
            f"{conversation_id} belongs to another user than {user!r}.", conversation_id=conversation_id
        )
    return ConversationNotFoundError(conversation_id, f"the conversations of {user!r}")


@asynccontextmanager
async def home_with(given: Input, app: App, tool: str) -> AsyncGenerator[App]:
    """Yield the home that holds the conversation which a call names: its own one, or else that of a user of the log.

    What a tool does in the home of a user is noted first.

    Raises:
        InvalidInputError: several users have it.
    """
    conversation_id = _named(given)
    if app.homes is None or conversation_id is None or hasattr(given, "user_id"):
        yield app
        return
    holders = [] if await app.store.exists(conversation_id) else await app.holders(conversation_id)
    if len(holders) > 1:
        raise InvalidInputError(
            f"{conversation_id} is a conversation of {len(holders)} users; it cannot be told whose."
        )
    if not holders:
        yield app
        return
    await app.homes.note(holders[0], tool, [conversation_id])
    async with app.homes.of(holders[0]) as home:
        yield home


def _named(given: Input) -> ConversationId | None:
    named = getattr(given, "conversation_id", None) or getattr(given, "continue_from", None)
    return ConversationId(named) if isinstance(named, str) and SHAPE.fullmatch(named) else None
