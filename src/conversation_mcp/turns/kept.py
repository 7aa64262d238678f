"""Whom a follow-up stays with: who gave the last answer, and which model was asked there for such questions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conversation_mcp.providers.base import Mode, ModeOf
from conversation_mcp.providers.choosing.chosen import PERPLEXITY
from conversation_mcp.providers.choosing.stay import Kept
from conversation_mcp.records.models import Conversation, PendingTurn


@dataclass(frozen=True)
class Asked:
    """Who was asked by which tool, and the model that was named or chosen; None where it took the default.

    A level, such as xhigh, counts for its own question only: it says how much to spend, not whom to ask.
    """

    provider: str
    tool: str | None
    model: str | None


def kept(conversation: Conversation, mode: Mode, mode_of: ModeOf) -> tuple[Kept, ...]:
    """Return who answered, the last one first; where nobody did, whom the questions without an answer went to."""
    found: dict[str, Kept] = {}
    for asked in _asked(conversation):
        before = found.get(asked.provider, Kept(asked.provider))
        is_of_mode = mode_of(asked.tool) == mode
        found[asked.provider] = Kept(
            asked.provider,
            model=before.model if before.is_of_mode or not is_of_mode else asked.model,
            other_model=before.other_model or asked.model,
            is_of_mode=before.is_of_mode or is_of_mode,
        )
    return tuple(found.values())


def last_asked(conversation: Conversation) -> Asked | None:
    """Return who answered last, or was asked last where nobody answered; None where the file does not say."""
    return next(iter(_asked(conversation)), None)


def without_level(model: str | None, preset: str | None) -> str | None:
    """Return the model that was asked for; None for a level."""
    return None if model == preset else model


def _asked(conversation: Conversation) -> Iterable[Asked]:
    return list(_answered(conversation)) or _unanswered(conversation)


def _answered(conversation: Conversation) -> Iterator[Asked]:
    messages = conversation.messages
    for question, reply in zip(messages[-2::-1], messages[::-1], strict=False):
        if question.role == "user" and reply.role == "assistant" and reply.provider:
            yield Asked(reply.provider, question.tool, without_level(reply.requested_model, reply.preset))


def _unanswered(conversation: Conversation) -> Iterator[Asked]:
    pending = (conversation.pending_turn,) if conversation.pending_turn else ()
    left: tuple[PendingTurn, ...] = (*(conversation.unanswered_turns or ()), *pending)
    for turn in reversed(left):
        if turn.provider:
            is_level = turn.provider == PERPLEXITY and "/" not in (turn.model or "")
            yield Asked(turn.provider, turn.tool, None if is_level else turn.model)
