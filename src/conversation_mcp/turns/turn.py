"""A turn while it runs: its parts, each written by one module and read by all."""

from dataclasses import dataclass

import anyio

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Call, TurnLock
from conversation_mcp.turns.ask import Ask, QuestionPlace, Report
from conversation_mcp.turns.audience import HEARTBEAT_SECONDS, Audience
from conversation_mcp.turns.call_outcomes import Running
from conversation_mcp.turns.result import TurnResult
from conversation_mcp.turns.run import Run
from conversation_mcp.turns.wishes import Wishes

NO_ASK = Ask(tool="", mode="search", question="", preset="")
"""For turns that only look after a question that was asked before."""

TurnOutcome = TurnResult | ConversationMCPError


@dataclass
class Claim:
    """What this process knows and has of the call's name; `claims.py` writes it."""

    conversation_id: ConversationId | None
    """Where the question is, or is to be; None while a start has no place."""
    held: TurnLock | None = None
    """The name, while this process has it."""
    call: Call | None = None
    """The call that the outcome delivers."""
    joined: Running | None = None
    """The same call made by somebody else, while this turn waits for it."""


@dataclass
class Course:
    """How far the turn has come with its conversation; `worker.py` writes it."""

    is_queued: bool = False
    """Whether it waits for its place in the line and may still be given up."""
    holds_lock: bool = False
    question: Call | None = None
    """Its own question, once that is on disk."""
    has_looked: bool = False
    """Whether the first look at an earlier question is over."""


class RunningTurn:
    """One turn of this process. `roster.py` writes how it ends."""

    def __init__(self, key: str, ask: Ask, conversation_id: ConversationId | None) -> None:
        self.key = key
        self.ask = ask
        self.is_follow_up = conversation_id is not None
        self.claim = Claim(conversation_id)
        self.course = Course()
        self.run = Run()
        self.wishes = Wishes()
        self.audience = Audience()
        self.outcome: TurnOutcome | None = None
        self.has_ended = False
        self.is_left = False

    @property
    def conversation_id(self) -> ConversationId | None:
        """The conversation, once it is known and there."""
        return self.course.question.conversation_id if self.course.question else self.claim.conversation_id

    @property
    def question(self) -> Call | None:
        """The question on disk, whether this turn has asked it or another that it joined."""
        joined = self.claim.joined
        return self.course.question or (joined.call if joined and joined.is_asked else None)

    @property
    def place(self) -> QuestionPlace | None:
        """Where the question stands, once it is on disk."""
        if self.question is None:
            return None
        return QuestionPlace(self.question.conversation_id, self.question.started_at, self.key, self.ask.show_thinking)

    @property
    def is_queued(self) -> bool:
        """Whether the question waits for others before it, and is asked by nobody yet."""
        joined = self.claim.joined
        return self.course.is_queued or bool(self.is_follow_up and joined and not joined.is_asked)

    def can_be_left(self) -> bool:
        """Tell whether nothing would be lost if this process ended now."""
        return self.has_ended or self.run.in_background or self.claim.joined is not None

    async def wait_end(self) -> None:
        """Wait until nothing more will happen."""
        await self.audience.until(lambda: self.has_ended)

    def refuse(self) -> None:
        """Begin nothing any more, because the server ends: what was sent goes on, what was not is not sent."""
        if self.course.question is None:
            self.wishes.refuse()

    def leave(self) -> None:
        """Let everybody go who waits, because the server ends and the outcome will not come in time."""
        self.is_left = True
        self.audience.ring()

    def end(self, outcome: TurnOutcome | None) -> None:
        """Tell all who wait that nothing more will happen."""
        self.outcome, self.has_ended = outcome, True
        self.audience.ring()

    async def wait(self, report: Report, wait_seconds: float, *, until_asked: bool = False) -> TurnOutcome | None:
        """Wait for the outcome for at most that long; report at once, at each change and as a heartbeat.

        The conversation's id is known afterwards, however short the wait. With `until_asked` the wait is over as soon
        as the question is on disk.
        """
        with anyio.move_on_after(wait_seconds):
            while not (self.has_ended or self.is_left or (until_asked and self.question)):
                bell = self.audience.bell
                if self.conversation_id is not None:
                    await report(f"{self.conversation_id} · {self.audience.headline}")
                with anyio.move_on_after(HEARTBEAT_SECONDS):
                    await bell.wait()
        await self.audience.until(lambda: self.conversation_id is not None or self.has_ended or self.is_left)
        return self.outcome
