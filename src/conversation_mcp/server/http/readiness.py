"""Whether the place of conversations can be used, as load balancers ask every few seconds."""

from collections.abc import Callable

import anyio
from anyio import to_thread

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.ids import id_at
from conversation_mcp.stores.base import Store

KNOWN_SECONDS = 10.0
ANY_ID = id_at(0)


class Readiness:
    """Tries store and index out, at most every few seconds however often it is asked."""

    def __init__(self, open_store: Callable[[], Store]) -> None:
        self._open_store = open_store
        self._looked_at: float | None = None
        self._is_usable = False
        self._looking = anyio.Lock()

    async def is_usable(self) -> bool:
        """Tell whether conversations can be written, read back and found."""
        async with self._looking:
            if self._looked_at is None or anyio.current_time() - self._looked_at > KNOWN_SECONDS:
                self._is_usable = await self._look()
                self._looked_at = anyio.current_time()
            return self._is_usable

    async def _look(self) -> bool:
        try:
            store = self._open_store()
            await store.exists(ANY_ID)  # fails where the place is no folder, or is closed to this process
            if (await store.try_out()).state == "fail":
                return False
            index = store.finder.index
            return index is None or await to_thread.run_sync(index.obstacle) is None
        except ConversationMCPError:
            return False
