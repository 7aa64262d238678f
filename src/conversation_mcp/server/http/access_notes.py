"""Lines of the audit trail for what a token does with the conversations of other owners than its own."""

import json
import logging
from typing import Any

from anyio import to_thread

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.audit import AuditEvent, ids_in
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.server.http.callers import Denial, Identity
from conversation_mcp.stores.audit import AuditTrail

VIA = "http"
READING = frozenset(
    (
        "completion/complete",
        "prompts/get",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "subscriptions/listen",
    )
)
"""The methods beside the calls of tools that tell something of conversations, or that they have changed."""
UNNOTED = Denial(503, "What is done for others cannot be noted, so it is not done", {"retry-after": "5"})

logger = logging.getLogger(__name__)


class AccessNotes:
    """Writes a line before something is done or read for another owner."""

    def __init__(self, trail: AuditTrail) -> None:
        self._trail = trail

    async def note(self, caller: Identity, body: bytes) -> Denial | None:
        """Note what is asked for, with the ids that it names; return how it is refused if that cannot be done."""
        called = _called(body)
        if called is None:
            return None
        event = AuditEvent(caller.name or "unknown", VIA, caller.owner, *called)
        try:
            await to_thread.run_sync(self._add, event)
        except ConversationMCPError as error:
            logger.error("the audit trail cannot be written: %s", error.message)  # noqa: TRY400 -- says it all
            return UNNOTED
        return None

    def _add(self, event: AuditEvent) -> None:
        self._trail.add(event, is_durable=False)  # a crash of the machine may cost the last lines, as it may the call


def _called(body: bytes) -> tuple[str, list[str]] | None:
    """Return the tool that a request calls, or how it reads, and the ids of conversations that it names."""
    try:
        call: Any = json.loads(body)
        method: str = call["method"]
        params: dict[str, Any] = call.get("params") or {}
        if method in READING:
            return method, list(dict.fromkeys(SHAPE.findall(json.dumps(params))))
        if method != "tools/call":
            return None
        arguments: dict[str, object] = params.get("arguments") or {}
        return str(params["name"]), ids_in(arguments.values())
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
