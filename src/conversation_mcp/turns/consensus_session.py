"""A consensus that is on disk: its models, and what came of each so far."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.prompting.composed import Composition
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.records.models import Conversation, ConversationId, PendingCall, PendingTurn
from conversation_mcp.turns.ask import Seat
from conversation_mcp.turns.consensus_receiver import VerdictReceiver
from conversation_mcp.turns.material import Material
from conversation_mcp.turns.receiver import OpenQuestion
from conversation_mcp.turns.turn import RunningTurn

ASSUMED_ANSWER_TOKENS = 2_000
"""The length of an answer that a cost is estimated for before it begins."""


@dataclass(frozen=True)
class Panel:
    """The models of a consensus, in the order of its seats, and the one that sums up."""

    choices: tuple[Choice, ...]
    synthesizer: Choice | None = None


@dataclass
class Voice:
    """One model that is to be asked, what came of it before, and its request."""

    seat: Seat
    choice: Choice
    call: PendingCall
    place: int
    composition: Composition | None = None
    receiver: VerdictReceiver | None = None
    opened: OpenQuestion | None = None
    problem: ConversationMCPError | None = None
    """Why it cannot be asked."""


@dataclass
class Session:
    """A consensus that is on disk."""

    turn: RunningTurn
    panel: Panel
    material: Material
    before: Conversation
    """The conversation without the question."""
    earlier: PendingTurn | None
    """What the same call left, if it was made before."""
    conversation: Conversation
    pending: PendingTurn
    voices: list[Voice] = field(default_factory=list[Voice])
    contents: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """What must be kept before it is sent."""

    @property
    def conversation_id(self) -> ConversationId:
        """The conversation in which it is asked."""
        return ConversationId(self.conversation.conversation_id)

    def calls(self) -> tuple[PendingCall, ...]:
        """Return the calls as they are now."""
        return tuple(voice.receiver.call if voice.receiver else voice.call for voice in self.voices)

    @property
    def awaits_synthesis(self) -> bool:
        """Whether there are verdicts that nobody has been asked to sum up."""
        return len(self.voices) == len(self.panel.choices) and any(call.answer for call in self.calls())

    def report(self) -> None:
        """Announce who has answered."""
        answered = [call for call in self.calls() if call.answer]
        names = ", ".join(f"{call.model or call.provider} ({call.stance})" for call in answered)
        count = f"{len(answered)} of {len(self.voices)} answered"
        self.turn.audience.report(f"{count}: {names}" if names else count)

    def failure(self) -> ConversationMCPError:
        """Return the first model's error, which names all models."""
        return failure_of(self.voices)


def failure_of(voices: Sequence[Voice]) -> ConversationMCPError:
    """Return the first model's error, which names all models."""
    errors = [error for voice in voices if (error := voice.receiver.error if voice.receiver else voice.problem)]
    calls = [voice.receiver.call if voice.receiver else voice.call for voice in voices]
    named = "; ".join(
        f"{call.model or call.provider}: {call.error.message.rstrip('.')}" for call in calls if call.error
    )
    error = errors[0]
    error.message = f"no model answered. {named}."
    return error


def planned_usd(voices: Sequence[Voice], panel: Panel) -> float:
    """Return the estimated cost of all that is still to be asked, as far as prices are known."""
    asked = [(voice.choice, voice.composition.tokens) for voice in voices if voice.composition]
    if panel.synthesizer and len(voices) == len(panel.choices):
        longest = max((voice.composition.tokens if voice.composition else _sent_tokens(voice)) for voice in voices)
        asked.append((panel.synthesizer, longest + len(voices) * ASSUMED_ANSWER_TOKENS))
    return sum(_usd(choice, tokens) for choice, tokens in asked)


def _sent_tokens(voice: Voice) -> int:
    answer = voice.call.answer
    return (answer.estimated_tokens if answer else voice.call.estimated_tokens) or 0


def _usd(choice: Choice, tokens: int) -> float:
    facts = choice.facts
    return (tokens * (facts.price_in or 0) + ASSUMED_ANSWER_TOKENS * (facts.price_out or 0)) / 1_000_000
