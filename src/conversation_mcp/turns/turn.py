"""A running turn and its parts, each written by one module and read by all."""

from dataclasses import dataclass

import anyio

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Call, TurnLock
from conversation_mcp.turns.ask import Ask, QuestionPlace, Report
from conversation_mcp.turns.audience import HEARTBEAT_SECONDS, Audience
from conversation_mcp.turns.call_outcomes import Running
from conversation_mcp.turns.provider_calls import ProviderCall
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.run import Run
from conversation_mcp.turns.wishes import Wishes

NO_ASK = Ask(tool="", mode="search", question="", preset="")
"""For turns that only resume or stop an earlier question."""

TurnOutcome = TurnResult | ConversationMCPError


@dataclass
class Claim:
    """The state of the call's name in this process; written by `claims.py`."""

    conversation_id: ConversationId | None
    """The conversation of the question, now or soon; None until a start has one."""
    held: TurnLock | None = None
    """The lock on the name, while this process has it."""
    call: Call | None = None
    """The call that is delivered with the outcome."""
    left: Call | None = None
    """The same call made earlier, whose consensus ended before it had all verdicts."""
    keeps_answers: bool = False
    """Whether the same call, after an error, finds verdicts that are there already."""
    joined: Running | None = None
    """The same call made elsewhere, while this turn waits for it."""


@dataclass
class Course:
    """The progress of the turn in its conversation; written by `worker.py` and `line.py`."""

    is_queued: bool = False
    """Whether it waits in the queue and may still be given up."""
    holds_lock: bool = False
    question: Call | None = None
    """The turn's own question, once it is on disk."""
    has_looked: bool = False
    """Whether the first look at an earlier question is over."""


class RunningTurn:
    """One turn of this process; its end is written by `roster.py`."""

    def __init__(self, key: str, ask: Ask, conversation_id: ConversationId | None) -> None:
        self.key = key
        self.ask = ask
        self.is_follow_up = conversation_id is not None
        self.claim = Claim(conversation_id)
        self.course = Course()
        self.run = Run()
        self.wishes = Wishes()
        self.audience = Audience()
        self.provider_calls: list[ProviderCall] = []
        self.outcome: TurnOutcome | None = None
        self.has_ended = False
        self.is_left = False

    @property
    def conversation_id(self) -> ConversationId | None:
        """The conversation, once it is known."""
        return self.course.question.conversation_id if self.course.question else self.claim.conversation_id

    @property
    def question(self) -> Call | None:
        """The question on disk, asked by this turn or by the call that it joined."""
        joined = self.claim.joined
        return self.course.question or (joined.call if joined and joined.is_asked else None)

    @property
    def place(self) -> QuestionPlace | None:
        """Where the question is stored, once it is on disk."""
        if self.question is None:
            return None
        return QuestionPlace(self.question.conversation_id, self.question.started_at, self.key, self.ask.show_thinking)

    @property
    def is_queued(self) -> bool:
        """Whether the question waits for others before it and has not been asked."""
        joined = self.claim.joined
        return self.course.is_queued or bool(self.is_follow_up and joined and not joined.is_asked)

    def can_be_left(self) -> bool:
        """Tell whether the turn would lose nothing if this process ended now."""
        return self.has_ended or self.run.in_background or self.claim.joined is not None

    async def wait_end(self) -> None:
        """Wait until the turn has ended."""
        await self.audience.until(lambda: self.has_ended)

    def refuse(self) -> None:
        """Send nothing more, because the server ends; a question that was sent continues."""
        if self.course.question is None:
            self.wishes.refuse()

    def leave(self) -> None:
        """Release all waiters, because the server ends before the outcome comes."""
        self.is_left = True
        self.audience.ring()

    def end(self, outcome: TurnOutcome | None) -> None:
        """Set the outcome and wake all waiters."""
        self.outcome, self.has_ended = outcome, True
        self.audience.ring()

    async def wait(self, report: Report, wait_seconds: float, *, until_asked: bool = False) -> TurnOutcome | None:
        """Wait for the outcome at most that long; report at once, at each change and as a heartbeat.

        The conversation's id is known afterwards, however short the wait. With `until_asked`, the wait ends as soon as
        the question is on disk.
        """
        with anyio.move_on_after(wait_seconds):
            while not (self.has_ended or self.is_left or (until_asked and self.question)):
                bell = self.audience.bell  # before the report: a ring during it must not be missed
                if self.conversation_id is not None:
                    await report(f"{self.conversation_id} · {self.audience.headline}")
                with anyio.move_on_after(HEARTBEAT_SECONDS):
                    await bell.wait()
        await self.audience.until(lambda: self.conversation_id is not None or self.has_ended or self.is_left)
        return self.outcome
