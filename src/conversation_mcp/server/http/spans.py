"""Spans of OpenTelemetry for requests, turns and calls to providers; they name no owner and hold no words."""

import time
from collections.abc import Callable, Iterator, Mapping

import anyio
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.server.http.metrics import ended_as
from conversation_mcp.turns.provider_calls import ProviderCall
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.turn import RunningTurn

NANOSECONDS = 1_000_000_000
SERVER_ERROR = 500
Facts = Mapping[str, str | int]


class Spans:
    """Makes the spans of what has ended. Without an exporter nothing comes of them.

    A turn belongs to the request that began it, and its calls to providers belong to the turn.
    """

    def __init__(self, nanoseconds: Callable[[], int] = time.time_ns) -> None:
        self._nanoseconds = nanoseconds
        self._tracer = trace.get_tracer("conversation-mcp")

    def note_request(self, method: str, status: int, seconds: float) -> None:
        """Make the span of a request, refused ones included."""
        now = anyio.current_time()
        facts = {"rpc.system": "mcp", "rpc.method": method, "http.response.status_code": status}
        span = self._begin(f"mcp {method}", SpanKind.SERVER, now - seconds, facts)
        self._end(span, now, is_error=status >= SERVER_ERROR)

    def note_turn(self, turn: RunningTurn) -> None:
        """Make the spans of a turn and of its calls to providers."""
        now = anyio.current_time()
        span = self._begin("turn", SpanKind.INTERNAL, now - turn.audience.elapsed_seconds, dict(_turn_facts(turn)))
        inside = trace.set_span_in_context(span)
        for call in turn.provider_calls:
            name = f"{'fetch' if call.is_fetch else turn.ask.mode} {call.model or call.provider}"
            own = self._begin(name, SpanKind.CLIENT, call.began_at, dict(_call_facts(call, turn)), inside)
            self._end(own, call.ended_at, is_error=call.error_code is not None)
        self._end(span, now, is_error=isinstance(turn.outcome, ConversationMCPError))

    def _begin(self, name: str, kind: SpanKind, at: float, facts: Facts, inside: Context | None = None) -> Span:
        return self._tracer.start_span(name, inside, kind, attributes=facts, start_time=self._time(at))

    def _end(self, span: Span, at: float, *, is_error: bool) -> None:
        if is_error:
            span.set_status(trace.StatusCode.ERROR)
        span.end(self._time(at))

    def _time(self, at: float) -> int:
        """Return the time of day of a moment on the clock of the event loop."""
        return self._nanoseconds() - int((anyio.current_time() - at) * NANOSECONDS)


def _turn_facts(turn: RunningTurn) -> Iterator[tuple[str, str | int]]:
    yield "conversation_mcp.tool", turn.ask.tool
    yield "conversation_mcp.outcome", ended_as(turn)
    if isinstance(turn.outcome, TurnResult):
        yield "gen_ai.provider.name", turn.outcome.provider or "-"
        yield "gen_ai.response.model", turn.outcome.model_used or "-"


def _call_facts(call: ProviderCall, turn: RunningTurn) -> Iterator[tuple[str, str | int]]:
    yield "gen_ai.operation.name", turn.ask.mode
    yield "gen_ai.provider.name", call.provider
    if call.model:
        yield "gen_ai.request.model", call.model
    if call.answered_by:
        yield "gen_ai.response.model", call.answered_by
    if call.usage and call.usage.input_tokens is not None:
        yield "gen_ai.usage.input_tokens", call.usage.input_tokens
    if call.usage and call.usage.output_tokens is not None:
        yield "gen_ai.usage.output_tokens", call.usage.output_tokens
    if call.error_code:
        yield "error.type", call.error_code
