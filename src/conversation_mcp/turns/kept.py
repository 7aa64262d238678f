"""The providers that a follow-up stays with, and the model that each was asked for such questions."""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from conversation_mcp.providers.choosing.choice import Kept
from conversation_mcp.providers.configuration import is_known_preset
from conversation_mcp.records.models import Conversation, PendingTurn
from conversation_mcp.records.modes import Mode, ModeOf


class Asked(NamedTuple):
    """The provider that was asked, by which tool, and the model that was named or chosen; None for the default.

    A preset, such as xhigh, counts for its own question only: it says how much to spend, not whom to ask.
    """

    provider: str
    tool: str | None
    model: str | None


def kept(conversation: Conversation, mode: Mode, mode_of: ModeOf) -> tuple[Kept, ...]:
    """Return the providers that answered, latest first; if none did, those that got the unanswered questions."""
    found: dict[str, Kept] = {}
    for asked in list(_answered(conversation)) or _unanswered(conversation):
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
    """Return the last provider that answered, or if none did, the last one asked; None if the file does not say."""
    return next(chain(_answered(conversation), _unanswered(conversation)), None)


def without_preset(model: str | None, preset: str | None) -> str | None:
    """Return the requested model; None if it is only the name of the preset."""
    return None if model == preset else model


def _answered(conversation: Conversation) -> Iterator[Asked]:
    messages = conversation.messages
    # Adjacent messages in pairs, the last pair first.
    for question, reply in zip(messages[-2::-1], messages[::-1], strict=False):
        if question.role == "user" and reply.role == "assistant" and reply.provider:
            yield Asked(reply.provider, question.tool, without_preset(reply.requested_model, reply.preset))


def _unanswered(conversation: Conversation) -> Iterator[Asked]:
    pending = (conversation.pending_turn,) if conversation.pending_turn else ()
    left: tuple[PendingTurn, ...] = (*(conversation.unanswered_turns or ()), *pending)
    for turn in reversed(left):
        if turn.provider:
            is_preset = turn.model is not None and is_known_preset(turn.provider, turn.model)
            yield Asked(turn.provider, turn.tool, None if is_preset else turn.model)
