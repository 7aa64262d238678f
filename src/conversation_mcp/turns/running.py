"""A turn while it runs: what all that wait for it share."""

import logging
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import anyio
from anyio.abc import TaskGroup

from conversation_mcp.errors import ConversationMCPError, InternalError
from conversation_mcp.providers.whereabouts import OUTSIDE, Side
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Call, TurnLock
from conversation_mcp.turns.ask import Ask, Place, Report
from conversation_mcp.turns.result import TurnResult

HEARTBEAT_SECONDS = 5.0
SHOWN_PROGRESS_CHARS = 160
MAX_PARTIAL_CHARS = 1_000_000
NO_ASK = Ask(tool="", mode="search", question="", preset="")
"""For turns that only look after a question that was asked before."""

Outcome = TurnResult | ConversationMCPError

logger = logging.getLogger(__name__)


class RunningTurn:
    """One turn of this process: its state, and a bell for everybody who waits."""

    def __init__(
        self, key: str, ask: Ask, conversation_id: ConversationId | None, seconds: Callable[[], float]
    ) -> None:
        self.key = key
        self.ask = ask
        self.conversation_id = conversation_id
        self.is_follow_up = conversation_id is not None
        self.asks_at = ""
        self.started_at: str | None = None
        self.partial_text = ""
        self.listeners: list[Callable[[str, bool], None]] = []
        self.doing = "starting"
        self.outcome: Outcome | None = None
        self.response_id: str | None = None
        self.background = False
        self.sent_to: dict[str, str] | None = None
        """Everybody who may have got the words, once that is known, each with the side on which they are then."""
        self._newest: str | None = None
        self.work = anyio.CancelScope()
        self.looked = anyio.Event()
        self.waiters = 0
        self.queued = False
        self.holds_lock = False
        self.joined = False
        self.held: TurnLock | None = None
        """The call's name, while this process has it."""
        self.call: Call | None = None
        """The call that the outcome delivers."""
        self.failed_in: ConversationId | None = None
        """The conversation that the same call opened before, and where it failed."""
        self.ended = False
        self.is_stopped = False
        self.is_refused = False
        self.is_left = False
        self.queue = anyio.CancelScope()
        self._seconds = seconds
        self._started_seconds = seconds()
        self.bell = anyio.Event()

    @property
    def elapsed_seconds(self) -> float:
        """How long the turn has been running."""
        return self._seconds() - self._started_seconds

    @property
    def is_given_up(self) -> bool:
        """Whether it comes to its end without having got what it was begun for; nobody should join it any more."""
        return self.is_stopped or self.queue.cancel_called

    @property
    def place(self) -> Place | None:
        """Where the question stands, once it is on disk."""
        if self.conversation_id is None or self.started_at is None:
            return None
        return Place(self.conversation_id, self.started_at, self.key, self.ask.show_thinking)

    def asked(self, started_at: str | None) -> None:
        """Say that the question is on disk since then."""
        self.started_at = started_at
        self._ring()

    def hear(self, text: str, *, replaces: bool = False) -> None:
        """Take the next piece of the answer's text; of one that never ends no more is kept than a reader can use.

        One that replaces what came before takes it back; so does the first one of a run that is looked at anew.
        """
        replaces = replaces or not self.partial_text
        if replaces:
            self.partial_text = ""
        if len(self.partial_text) < MAX_PARTIAL_CHARS:
            self.partial_text += text
        for listen in self.listeners:
            listen(text, replaces)

    def send_to(self, name: str, side: Side) -> None:
        """Say that this provider gets the words now."""
        known = self.sent_to or {}
        self._newest = None if known.get(name) == OUTSIDE else name
        self.sent_to = {**known, name: OUTSIDE if known.get(name) == OUTSIDE else side}

    def take_back(self) -> None:
        """Say that the last one did not get the words after all: there was no connection."""
        if self._newest and self.sent_to and self.sent_to[self._newest] == OUTSIDE:
            self.sent_to = {name: side for name, side in self.sent_to.items() if name != self._newest}

    def report(self, doing: str) -> None:
        """Say what is being done now."""
        self.doing = doing[:SHOWN_PROGRESS_CHARS]
        self._ring()

    async def report_queue(self, waited_seconds: float) -> None:
        """Say that another turn on the conversation is in the way."""
        self.report(f"waiting for another follow-up, {waited_seconds:.0f} s")

    def stop(self) -> None:
        """End the turn on a person's wish."""
        self.is_stopped = True
        self.queue.cancel()
        self.work.cancel()

    def open_queue(self) -> None:
        """Wait in a line again, unless that is over for this turn."""
        is_over, self.queue, self.queued = self.is_stopped or self.is_refused, anyio.CancelScope(), True
        if is_over:
            self.queue.cancel()

    def refuse(self) -> None:
        """Begin nothing any more, because the server ends: what was sent goes on, what was not is not sent."""
        if self.started_at is None or self.joined:
            self.is_refused = True
            self.queue.cancel()

    def leave(self) -> None:
        """Let everybody go who waits, because the server ends and the outcome will not come in time."""
        self.is_left = True
        self._ring()

    def finish(self, outcome: Outcome) -> None:
        """Set the outcome that waiters get when the turn has ended; the first counts."""
        self.outcome = self.outcome or outcome

    def end(self) -> None:
        """Tell all waiters that nothing more will happen."""
        self.ended = True
        self.looked.set()
        self._ring()

    def headline(self) -> str:
        """Return the line that a waiting person reads."""
        return f"{self.conversation_id} · {self.doing} ({self.elapsed_seconds:.0f} s)"

    def _ring(self) -> None:
        self.bell.set()
        self.bell = anyio.Event()

    async def wait(self, report: Report, wait_seconds: float, *, until_asked: bool = False) -> Outcome | None:
        """Wait for the outcome for at most that long; report at once, at each change and as a heartbeat.

        The conversation's id is known afterwards, however short the wait. With `until_asked` the wait is over as soon
        as the question is on disk.
        """
        with anyio.move_on_after(wait_seconds):
            while not (self.ended or self.is_left or (until_asked and self.place)):
                bell = self.bell
                if self.conversation_id is not None:
                    await report(self.headline())
                with anyio.move_on_after(HEARTBEAT_SECONDS):
                    await bell.wait()
        while self.conversation_id is None and not (self.ended or self.is_left):
            await self.bell.wait()
        return self.outcome

    async def wait_end(self) -> None:
        """Wait until nothing more will happen."""
        while not self.ended:
            await self.bell.wait()


class RunningTurns:
    """The turns of this process. They run in the task group, so no request that ends takes one with it."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._turns: dict[str, RunningTurn] = {}
        self._ends_at: float | None = None
        self.on_end: list[Callable[[RunningTurn], Awaitable[None]]] = []
        """Called after each turn that ends while the server goes on; they must not raise."""

    def get(self, key: str) -> RunningTurn | None:
        """Return the turn of this very call."""
        return self._turns.get(key)

    def on(self, conversation_id: ConversationId) -> RunningTurn | None:
        """Return the turn that runs on the conversation."""
        turns = (turn for turn in self._turns.values() if turn.conversation_id == conversation_id)
        return next((turn for turn in turns if turn.holds_lock), None)

    def begin(self, turn: RunningTurn, work: Coroutine[Any, Any, TurnResult | None]) -> None:
        """Run the work of a turn until it has its outcome."""
        self._turns[turn.key] = turn
        if self._ends_at is not None:
            turn.refuse()
        self._tasks.start_soon(self._run, turn, work, name=f"turn {turn.key[:8]}")

    async def finish(self, grace_seconds: float) -> None:
        """Wait for the turns that would be lost with this process, for at most that long since the first call."""
        if self._ends_at is None:
            self._ends_at = anyio.current_time() + grace_seconds
        for turn in self._turns.values():
            turn.refuse()
        with anyio.CancelScope(deadline=self._ends_at, shield=True):
            for turn in tuple(self._turns.values()):
                while not (turn.ended or turn.background or turn.joined):
                    await turn.bell.wait()
        for turn in self._turns.values():
            turn.leave()

    async def _run(self, turn: RunningTurn, work: Coroutine[Any, Any, TurnResult | None]) -> None:
        """Run the work and raise nothing but cancellation: an error here would end the server."""
        try:
            if result := await work:
                turn.finish(result)
        except ConversationMCPError as error:
            turn.finish(error)
        except Exception:
            reference = secrets.token_hex(4)
            logger.exception("a turn failed unexpectedly, reference %s", reference)
            turn.finish(InternalError(reference))
        finally:
            self._turns.pop(turn.key, None)
            turn.end()
        for tell in self.on_end:
            await tell(turn)
