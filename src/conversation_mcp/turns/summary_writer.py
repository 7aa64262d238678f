"""The writing of one summary: a model is asked in rounds, and each part that it covers is stored at once."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from conversation_mcp.errors import (
    ContextTooLargeError,
    ConversationMCPError,
    ProviderError,
    ProviderUnavailableError,
)
from conversation_mcp.prompting.budget import Shares, budget_of
from conversation_mcp.prompting.measure import Measure
from conversation_mcp.prompting.rounds import FRAME_TOKENS, Round, next_round, words_for
from conversation_mcp.prompting.summaries import NeededSummary
from conversation_mcp.prompting.transcript import Said
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.whereabouts import Side, Whereabouts
from conversation_mcp.records.models import Summary, TurnError
from conversation_mcp.records.usage import Usage
from conversation_mcp.text import dollars, storable
from conversation_mcp.turns.aside import ask_aside
from conversation_mcp.turns.provider_calls import ProviderCall

MOST_ROUNDS = 8
"""How many rounds a turn may take; what is left then is for the next turn."""
MOST_TOKENS = 4_000
"""A summary is not made longer than this, however much room there is."""
ATTEMPTS = 2

logger = logging.getLogger(__name__)

Keep = Callable[[str, Summary], Awaitable[None]]
"""Stores a summary of a conversation."""


@dataclass
class Writing:
    """What the summaries that are written at once have in common."""

    conversation_id: str
    """The conversation for which they are written."""
    writer: Choice
    """The model that writes them."""
    whereabouts: Whereabouts
    created_at: Callable[[], str]
    keep: Keep
    check_cost: Callable[[], Awaitable[None]]
    """Raises if nothing more may be spent."""
    passed_on: Callable[[str, Side], Awaitable[None]]
    """Called with whoever else gets the words, as soon as it is known."""
    is_stopped: Callable[[], bool] = lambda: False
    """Tells, once it is cancelled, whether a person has stopped it."""
    calls: list[ProviderCall] = field(default_factory=list[ProviderCall])
    rounds_left: int = MOST_ROUNDS
    was_sent: bool = False
    """Whether the writer may have received words."""


@dataclass
class _Progress:
    """How far a summary has come."""

    first_message: int
    text: str
    left: tuple[Said, ...]
    last_message: int
    uncounted: Usage | None = None
    """The charge of rounds that no stored summary holds yet."""
    cost_usd: list[float] = field(default_factory=list[float])
    is_stored: bool = False
    is_divided: bool = False
    """Whether it has come to the middle of a message."""


class SummaryWriter:
    """Asks for summaries."""

    def __init__(self, instructions: str, shares: Shares, clean: Callable[[str], str]) -> None:
        """Make it; `clean` redacts what is sent and what comes."""
        self._instructions = instructions
        self._shares = shares
        self._clean = clean
        self._measure = Measure()

    async def write(self, writing: Writing, needed: NeededSummary, said: Sequence[Said]) -> tuple[str, bool]:
        """Summarise what was said after the known summary; return the notice about it and whether it succeeded."""
        progress = _begun(needed, said)
        try:
            return await self._written(writing, needed, said, progress), True
        except ConversationMCPError as error:
            why = error.message.rstrip(".")
            missing = _named(writing, needed, progress.left or said)
            return f"{missing} could not be summarised and are left out: {why}", False

    async def require(self, writing: Writing, needed: NeededSummary, said: Sequence[Said]) -> str:
        """Summarise likewise, and return the notice; raise the error if that does not succeed."""
        return await self._written(writing, needed, said, _begun(needed, said))

    async def _written(self, writing: Writing, needed: NeededSummary, said: Sequence[Said], progress: _Progress) -> str:
        try:
            await self._rounds(writing, needed, progress)
        except ConversationMCPError as error:
            if progress.uncounted:
                failed = self._summary(writing, replace(progress, last_message=needed.last_message), error)
                await writing.keep(needed.conversation_id, failed)
            raise
        covered = [one for one in said if one.number <= progress.last_message]
        cost = f" for {dollars(sum(progress.cost_usd))}" if progress.cost_usd else ""
        by = f"were summarised by {writing.writer.shown}{cost}, because they do not fit"
        rest = f"; {_named(writing, needed, progress.left)} are left for the next question" if progress.left else ""
        return f"{_named(writing, needed, covered)} {by}{rest}"

    async def _rounds(self, writing: Writing, needed: NeededSummary, progress: _Progress) -> None:
        limit = budget_of(writing.writer.facts, self._shares).input_tokens
        while (progress.left or not progress.is_stored) and writing.rounds_left:
            most = None if limit is None else limit * writing.rounds_left
            # A message that cannot be read to its end now is not begun: it would be paid for in vain, each turn anew.
            if not progress.is_divided and progress.left and not self._is_within(progress.left[0], most):
                break
            await writing.check_cost()
            made, text = await self._round(writing, needed, progress)
            progress.text, progress.left = text, made.rest
            progress.is_divided = made.last_message is None and bool(made.rest)
            if progress.is_divided:
                continue
            progress.last_message = made.last_message or progress.last_message
            await writing.keep(needed.conversation_id, self._summary(writing, progress))
            progress.uncounted, progress.is_stored = None, True
        if progress.is_divided or not progress.is_stored:
            longest = f"message {progress.left[0].number}" if progress.left else "it"
            raise ProviderUnavailableError(f"{longest} takes more than {MOST_ROUNDS} requests.")

    def _is_within(self, said: Said, most_tokens: int | None) -> bool:
        return most_tokens is None or self._measure.tokens(said.text) <= most_tokens

    async def _round(self, writing: Writing, needed: NeededSummary, progress: _Progress) -> tuple[Round, str]:
        """Ask for the next round; if the request or the text is too long, once more for less."""
        budget = budget_of(writing.writer.facts, self._shares)
        limit, most = budget.input_tokens, self._most_tokens(needed, budget.answer_tokens)
        words, why = words_for(most), f"it has no room for {most:,} tokens"
        for _ in range(ATTEMPTS):
            made = next_round(self._instructions, progress.text, progress.left, words, limit, self._measure)
            if made is None or words <= 1 or not writing.rounds_left:
                break
            writing.rounds_left -= 1
            size = sum(self._measure.tokens(message.content) for message in made.messages)
            try:
                answer = await ask_aside(writing, made.messages, size, self._clean)
            except ProviderError as error:
                writing.was_sent |= error.was_sent
                _charge(progress, Usage.model_validate(dict(error.usage)) if error.usage else None)
                if not isinstance(error, ContextTooLargeError):
                    raise
                limit, why = size // 2, error.message
                continue
            writing.was_sent = True
            _charge(progress, answer.usage)
            text = storable(self._clean(answer.content)).strip()
            if not text:
                why = "it was empty"
                break
            if answer.finish_reason == "stop" and self._measure.tokens(text) <= most:
                return made, text
            words, why = words // 2, "it was too long"
        raise ProviderUnavailableError(f"no usable text came from {writing.writer.shown}: {why}.", maybe_billed=True)

    def _most_tokens(self, needed: NeededSummary, answer_tokens: int | None) -> int:
        rooms = (None if needed.most_tokens is None else needed.most_tokens - FRAME_TOKENS, answer_tokens)
        return max(0, min(MOST_TOKENS, *(room for room in rooms if room is not None)))

    def _summary(self, writing: Writing, progress: _Progress, error: ConversationMCPError | None = None) -> Summary:
        writer = writing.writer
        return Summary.of(
            content="" if error else progress.text,
            first_message=progress.first_message,
            last_message=progress.last_message,
            created_at=writing.created_at(),
            provider=writer.provider.name,
            model=writer.name,
            sent_to={writer.provider.name: writer.side},
            usage=progress.uncounted,
            error=TurnError(code=error.code, message=storable(error.message)) if error else None,
        )


def _begun(needed: NeededSummary, said: Sequence[Said]) -> _Progress:
    known = needed.known
    left = tuple(one for one in said if known is None or one.number > known.last_message)
    return _Progress(
        known.first_message if known else left[0].number,
        known.content if known else "",
        left,
        known.last_message if known else 0,
    )


def _charge(progress: _Progress, usage: Usage | None) -> None:
    """Add a charge to those that are not stored yet."""
    if usage is None:
        return
    if usage.cost_usd is not None:
        progress.cost_usd.append(usage.cost_usd)
    before, more = dict(progress.uncounted or ()), dict(usage)
    names = [name for name in Usage.model_fields if before.get(name) is not None or more.get(name) is not None]
    progress.uncounted = Usage.told(**{name: (before.get(name) or 0) + (more.get(name) or 0) for name in names})


def _named(writing: Writing, needed: NeededSummary, said: Sequence[Said]) -> str:
    """Return which messages these are."""
    own = writing.conversation_id == needed.conversation_id
    where = "" if own else f" of {needed.conversation_id}"
    return f"messages {said[0].number} to {said[-1].number}{where}"
