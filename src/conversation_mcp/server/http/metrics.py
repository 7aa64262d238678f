"""Figures of a server process in the text format of Prometheus. They name no owner and hold no words."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.turn import RunningTurn

PREFIX = "conversation_mcp_"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1_800.0)

Labels = tuple[tuple[str, str], ...]


class Now(NamedTuple):
    """What is the case at this moment."""

    running_turns: int
    waiting_turns: int
    open_owners: int


def ended_as(turn: RunningTurn) -> str:
    """Return how a turn ended: its status, the code of its error, or that its server left it."""
    if isinstance(turn.outcome, ConversationMCPError):
        return turn.outcome.code
    return turn.outcome.status if turn.outcome else "left"


class Metrics:
    """Counts requests and turns, and writes the figures down; an ASGI app that serves them."""

    def __init__(self) -> None:
        self.look: Callable[[], Now] | None = None
        """Tells what is the case now, once the server runs."""
        self._requests: Counter[Labels] = Counter()
        self._turns: Counter[Labels] = Counter()
        self._tokens: Counter[Labels] = Counter()
        self._cost_usd: dict[Labels, float] = {}
        self._seconds: dict[Labels, float] = {}
        self._within: Counter[Labels] = Counter()

    def note_request(self, method: str, status: int) -> None:
        """Count a request; methods that the protocol does not have are counted as one."""
        self._requests[("method", method), ("code", str(status))] += 1

    async def note_turn(self, turn: RunningTurn) -> None:
        """Count a turn that has ended."""
        result = turn.outcome if isinstance(turn.outcome, TurnResult) else None
        seconds = turn.audience.elapsed_seconds
        whose = (("tool", turn.ask.tool or "-"), ("provider", (result and result.provider) or "-"))
        self._turns[*whose, ("outcome", ended_as(turn))] += 1
        self._seconds[whose] = self._seconds.get(whose, 0.0) + seconds
        for bound in BUCKETS:
            if seconds <= bound:
                self._within[*whose, ("le", f"{bound:g}")] += 1
        self._within[*whose, ("le", "+Inf")] += 1
        if result and (usage := result.usage):
            self._tokens[*whose, ("kind", "input")] += usage.input_tokens or 0
            self._tokens[*whose, ("kind", "output")] += usage.output_tokens or 0
            self._cost_usd[whose] = self._cost_usd.get(whose, 0.0) + (usage.cost_usd or 0.0)

    def text(self) -> str:
        """Return the figures."""
        return "\n".join(self._lines()) + "\n"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for the figures."""
        if scope["type"] != "http":
            return
        is_right = scope["path"] == "/metrics" and Request(scope).method in ("GET", "HEAD")
        found = PlainTextResponse(self.text(), headers={"content-type": CONTENT_TYPE})
        await (found if is_right else PlainTextResponse("Not found", 404))(scope, receive, send)

    def _lines(self) -> Iterator[str]:
        yield from _family("requests_total", "counter", "Requests by method and HTTP status.", self._requests)
        yield from _family("turns_total", "counter", "Turns that ended, by tool, provider and outcome.", self._turns)
        yield from self._histogram()
        yield from _family("tokens_total", "counter", "Tokens that providers reported.", self._tokens)
        yield from _family("cost_usd_total", "counter", "Cost in US dollars that providers reported.", self._cost_usd)
        if self.look:
            now = self.look()
            for name, what, value in (
                ("running_turns", "Turns that run.", now.running_turns),
                ("waiting_turns", "Turns that wait for another one of their conversation.", now.waiting_turns),
                ("open_owners", "Owners whose conversations are open.", now.open_owners),
            ):
                yield from _family(name, "gauge", what, {(): value})

    def _histogram(self) -> Iterator[str]:
        name = f"{PREFIX}turn_seconds"
        yield f"# HELP {name} How long turns took."
        yield f"# TYPE {name} histogram"
        for whose, total in self._seconds.items():
            for bound in (*(f"{each:g}" for each in BUCKETS), "+Inf"):
                labels = (*whose, ("le", bound))
                yield f"{name}_bucket{_written(labels)} {self._within[labels]}"
            yield f"{name}_sum{_written(whose)} {total:.6f}"
            yield f"{name}_count{_written(whose)} {self._within[*whose, ('le', '+Inf')]}"


def _family(name: str, kind: str, what: str, values: Mapping[Labels, float]) -> Iterator[str]:
    yield f"# HELP {PREFIX}{name} {what}"
    yield f"# TYPE {PREFIX}{name} {kind}"
    for labels, value in values.items():
        yield f"{PREFIX}{name}{_written(labels)} {value:.12g}"


def _written(labels: Labels) -> str:
    """Return labels in braces; their values are escaped as the format wants it."""
    pairs = (f'{name}="{_escaped(value)}"' for name, value in labels)
    return "{" + ",".join(pairs) + "}" if labels else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
