"""Telling clients that a conversation has changed, in both protocol eras."""

from typing import Any
from weakref import WeakKeyDictionary

from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp.shared.subscriptions import ResourceUpdated
from mcp.types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from conversation_mcp.errors import (
    BudgetReachedError,
    ConversationBusyError,
    InvalidInputError,
    TurnLimitReachedError,
)
from conversation_mcp.server.resources import uri_of
from conversation_mcp.turns.running import RunningTurn

REFUSALS = (BudgetReachedError, ConversationBusyError, InvalidInputError, TurnLimitReachedError)

Request = ServerRequestContext[Any, Any]


class Updates:
    """Who wants to hear of which resource: listeners of the new era on the bus, subscribers of the old one here."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._subscribers: WeakKeyDictionary[Connection, set[str]] = WeakKeyDictionary()

    async def subscribe(self, context: Request, params: SubscribeRequestParams) -> EmptyResult:
        """Send updates of the resource to this client from now on."""
        self._subscribers.setdefault(_connection_of(context), set()).add(str(params.uri))
        return EmptyResult()

    async def unsubscribe(self, context: Request, params: UnsubscribeRequestParams) -> EmptyResult:
        """Send this client no more updates of the resource."""
        self._subscribers.get(_connection_of(context), set()).discard(str(params.uri))
        return EmptyResult()

    async def turn_ended(self, turn: RunningTurn) -> None:
        """Tell of a turn that has left its mark in a conversation, whether or not its request still waited."""
        if turn.conversation_id is not None and not isinstance(turn.outcome, REFUSALS):
            await self.publish(uri_of(turn.conversation_id))

    async def publish(self, uri: str) -> None:
        """Tell everybody who asked for it that the resource has changed; a client that is gone is no error."""
        subscribers = [connection for connection, uris in self._subscribers.items() if uri in uris]
        await self.bus.publish(ResourceUpdated(uri=uri))
        for connection in subscribers:
            await connection.notify("notifications/resources/updated", {"uri": uri})


def _connection_of(context: Request) -> Connection:
    return context.session._connection  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- sessions are per request
