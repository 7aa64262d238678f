"""Notifications of changed conversations, to clients of both protocol eras, whichever process made the change."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any
from weakref import WeakKeyDictionary

import anyio
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp.types import (
    EmptyResult,
    SubscribeRequestParams,
    SubscriptionFilter,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from conversation_mcp.app import App
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import ConversationId
from conversation_mcp.server.resources import SCHEME, uri_of
from conversation_mcp.stores.base import Stamp, Store
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.turn import RunningTurn

LOOK_EVERY_SECONDS = 1.0
TOGETHER_SECONDS = 0.1
"""What changes within this time is looked at together."""

Request = ServerRequestContext[App, Any]
Watched = ConversationId | None
"""A conversation, or None for the list of all conversations."""


class Updates:
    """The listeners of the new era, the subscribers of the old one, and the last seen state of what they watch.

    While a client listens, the store is asked for changes by other processes and people every `look_every_seconds`, and
    when it brings news of them.
    A turn of this process is announced once, when it ends.
    """

    def __init__(self, look_every_seconds: float = LOOK_EVERY_SECONDS) -> None:
        self.bus = InMemorySubscriptionBus()
        self._look_every_seconds = look_every_seconds
        self._serve_listener = ListenHandler(self.bus)
        self._filters: list[SubscriptionFilter] = []
        self._subscribers: WeakKeyDictionary[Connection, set[str]] = WeakKeyDictionary()
        self._seen: dict[Watched, Stamp] = {}
        self._list_has_changed = False
        self._somebody = anyio.Event()

    async def listen(self, context: Request, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """Serve a listener of the new era until it leaves."""
        async with self._listening(context, params.notifications):
            return await self._serve_listener(context, params)

    async def subscribe(self, context: Request, params: SubscribeRequestParams) -> EmptyResult:
        """Start to send updates of the resource to this client of the old era."""
        self._subscribers.setdefault(_connection_of(context), set()).add(str(params.uri))
        await self._begin(context.lifespan_context.store)
        return EmptyResult()

    async def unsubscribe(self, context: Request, params: UnsubscribeRequestParams) -> EmptyResult:
        """Stop sending updates of the resource to this client."""
        self._subscribers.get(_connection_of(context), set()).discard(str(params.uri))
        return EmptyResult()

    async def run(self, app: App) -> None:
        """Poll for changes while any client listens, until cancelled."""
        while True:
            await self._somebody.wait()
            with app.store.hear(None) as ear:
                while self._somebody.is_set():
                    await ear.pause(self._look_every_seconds)  # first, because a new watch begins with a look
                    await anyio.sleep(min(self._look_every_seconds, TOGETHER_SECONDS))
                    watched = self._watched()
                    if not watched:
                        self._somebody = anyio.Event()
                    self._seen = {each: stamp for each, stamp in self._seen.items() if each in watched}
                    await self._look(app, watched)

    def end(self) -> None:
        """End the streams of all listeners of the new era, each with its result."""
        self._serve_listener.close()

    async def turn_ended(self, app: App, turn: RunningTurn) -> None:
        """Announce a turn that has changed its conversation, whether or not its request still waits."""
        identifier = turn.conversation_id
        if identifier in self._seen and identifier is not None:
            # An answer that could not be saved has not changed the file, but the history shows it.
            is_unsaved = isinstance(turn.outcome, TurnResult) and turn.outcome.message_count is None
            if await self._has_changed(app.store, identifier) or is_unsaved:
                await self._publish(uri_of(identifier))

    @asynccontextmanager
    async def _listening(self, context: Request, wanted: SubscriptionFilter) -> AsyncGenerator[None]:
        self._filters.append(wanted)
        try:
            await self._begin(context.lifespan_context.store)
            yield
        finally:
            self._filters.remove(wanted)

    async def _begin(self, store: Store) -> None:
        """Remember the present state, so that every later change is noticed."""
        for each in self._watched() - self._seen.keys():
            await self._has_changed(store, each)
        self._somebody.set()

    async def _look(self, app: App, watched: Iterable[Watched]) -> None:
        for each in watched:
            if each is None:
                await self._look_at_list(app.store)
            # Asked again after the look, during which a turn may have begun: its end is announced, not each write.
            elif not app.running.on(each) and await self._has_changed(app.store, each) and not app.running.on(each):
                await self._publish(uri_of(each))

    async def _look_at_list(self, store: Store) -> None:
        """Announce a change of the list one look later: a new conversation gets its folder a moment before its file."""
        told, self._list_has_changed = self._list_has_changed, await self._has_changed(store, None)
        if told:
            await self.bus.publish(ResourcesListChanged())

    async def _has_changed(self, store: Store, watched: Watched) -> bool:
        """Look again and tell whether the state differs; a failed look counts as no change."""
        with suppress(ConversationMCPError):
            stamp = await store.stamp(watched)
            before = self._seen.get(watched, stamp)
            self._seen[watched] = stamp
            return stamp != before
        return False

    def _watched(self) -> set[Watched]:
        addresses = {address for wanted in self._filters for address in wanted.resource_subscriptions or ()}
        addresses.update(*self._subscribers.values())
        found: set[Watched] = {None} if any(wanted.resources_list_changed for wanted in self._filters) else set()
        for address in addresses:
            with suppress(ConversationMCPError):
                if address.startswith(SCHEME):
                    found.add(check_id(address.removeprefix(SCHEME)))
        return found

    async def _publish(self, uri: str) -> None:
        """Tell all listeners and subscribers that the resource has changed; a client that has left is not an error."""
        # Collected first: while notices are sent, a client may come or go.
        subscribers = [connection for connection, uris in self._subscribers.items() if uri in uris]
        await self.bus.publish(ResourceUpdated(uri=uri))
        for connection in subscribers:
            await connection.notify("notifications/resources/updated", {"uri": uri})


def _connection_of(context: Request) -> Connection:
    return context.session._connection  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- sessions are per request
