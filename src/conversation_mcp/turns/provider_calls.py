"""What a turn keeps in mind of each of its calls to a provider, for those who measure."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

import anyio

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.providers.base import Event, Finished
from conversation_mcp.records.usage import Usage


@dataclass
class ProviderCall:
    """One call: a question that was sent, or a run whose answer was fetched; nothing of what was said."""

    provider: str
    model: str | None
    is_fetch: bool = False
    began_at: float = 0.0
    ended_at: float = 0.0
    """Both on the clock of the event loop."""
    answered_by: str | None = None
    usage: Usage | None = None
    error_code: str | None = None

    async def observed(self, events: AsyncGenerator[Event]) -> AsyncGenerator[Event]:
        """Pass on the events of the call, and note when it ended and how."""
        self.began_at = self.ended_at = anyio.current_time()
        try:
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, Finished):
                        self.answered_by, self.usage = event.answer.model, event.answer.usage
                    yield event
        except ConversationMCPError as error:
            self.error_code = error.code
            raise
        finally:
            self.ended_at = anyio.current_time()
