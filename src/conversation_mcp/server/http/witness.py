"""What is written down about each request: its line in the access log, its figures, and its span."""

from dataclasses import dataclass
from typing import Protocol

from conversation_mcp.server.http.access_log import AccessLog, wanted_by
from conversation_mcp.server.http.metrics import Metrics
from conversation_mcp.server.http.spans import Spans
from conversation_mcp.turns.turn import RunningTurn

ABANDONED = 499
"""The client had left before there was an answer."""
KNOWN_METHODS = frozenset(
    (
        "-",
        "completion/complete",
        "initialize",
        "notifications/cancelled",
        "notifications/initialized",
        "notifications/progress",
        "notifications/roots/list_changed",
        "ping",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "server/discover",
        "subscriptions/listen",
        "tasks/cancel",
        "tasks/get",
        "tasks/update",
        "tools/call",
        "tools/list",
    )
)


@dataclass
class Exchange:
    """A request and its answer, as far as they are known."""

    caller: str | None = None
    body: bytes = b""
    status: int = ABANDONED
    seconds: float = 0.0
    """How long it took to give the answer to the connection."""


class Witness(Protocol):
    """Learns of each request that has ended."""

    def note(self, exchange: Exchange, seconds: float) -> None:
        """Write down a request."""
        ...


class ServerWitness:
    """Writes to the access log and the figures, and makes spans for an exporter if OpenTelemetry has one."""

    def __init__(self, log: AccessLog, metrics: Metrics, spans: Spans | None = None) -> None:
        self._log = log
        self._metrics = metrics
        self._spans = spans or Spans()

    def note(self, exchange: Exchange, seconds: float) -> None:
        """Write down a request."""
        wanted = wanted_by(exchange.body)
        method = wanted.method if wanted.method in KNOWN_METHODS else "other"
        self._log.write(exchange.caller, wanted, exchange.status, seconds)
        self._metrics.note_request(method, exchange.status)
        self._spans.note_request(method, exchange.status, seconds)

    async def note_turn(self, turn: RunningTurn) -> None:
        """Write down a turn that has ended."""
        await self._metrics.note_turn(turn)
        self._spans.note_turn(turn)
