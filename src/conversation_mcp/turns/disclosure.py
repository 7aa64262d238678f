"""The rule on who may receive the words of a conversation, and the notices about who does."""

from collections.abc import Sequence
from itertools import pairwise

from conversation_mcp.conversations.recipients import (
    Recipients,
    passages_in,
    recipients_of,
    recipients_of_questions,
    whereabouts_of,
)
from conversation_mcp.errors import WordsStayError
from conversation_mcp.prompting.transcript import key_of, said_in
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.providers.whereabouts import HERE, OUTSIDE
from conversation_mcp.records.attached import named_by
from conversation_mcp.records.models import Conversation
from conversation_mcp.text import counted, listed


def sharing_notices(
    conversation: Conversation, choice: Choice, sides: Recipients, *, may_leave: bool
) -> tuple[str, ...]:
    """Return the notices about new recipients of the conversation if this choice is asked.

    Raises:
        WordsStayError: the conversation was only on this machine until now, and may not leave it.
    """
    if choice.side == HERE:
        return ()
    known, name = whereabouts_of(conversation, sides), choice.provider.name
    if known.is_kept_here:
        words = "a part of this conversation" if known.is_part else "this conversation"
        what = f"{words}, which only {listed(known.here)} on this machine had until now"
        size = _size(conversation)
        if not may_leave:
            raise WordsStayError(choice.naming, f"{what} ({size}),", conversation_id=conversation.conversation_id)
        return (f"{choice.naming} gets {what}: {size}",)
    if name in known.outside:
        return _missed_ones(conversation, name, sides) or _later_ones(conversation, name, sides)
    if not known.outside or not said_in((conversation,)):  # no other recipient is known, or there is no history
        return ()
    have = "has" if len(known.outside) == 1 else "have"
    notice = f"{choice.naming} gets this conversation for the first time ({_size(conversation)})"
    return (f"{notice}; {listed(known.outside)} {have} it already",)


def withheld_from(chain: Sequence[Conversation], choice: Choice, providers: Providers) -> frozenset[str]:
    """Return the hashes of files and images that were sent on this machine only, and that this choice may not get."""
    if choice.side == HERE or providers.shares_always:
        return frozenset()
    here, outside = set[str](), set[str]()
    for conversation in chain:
        for question, reply in pairwise(conversation.messages):
            keys = {key for named in named_by(question) if (key := key_of(named))}
            if keys and (had := recipients_of(reply, conversation, providers.sides)):
                (outside if OUTSIDE in had.values() else here).update(keys)
    return frozenset(here - outside)


def _missed_ones(conversation: Conversation, name: str, sides: Recipients) -> tuple[str, ...]:
    """Return a notice if a merge added questions that the provider has never received, though others outside have."""
    missed = [had for had in recipients_of_questions(conversation, sides) if had and name not in had]
    if not missed:
        return ()
    others = dict.fromkeys(other for had in missed for other, side in had.items() if side == OUTSIDE)
    have = "has" if len(others) == 1 else "have"
    what = f"{counted(len(missed), 'question')} of this conversation, with what was answered"
    return (f"{name} gets {what}, for the first time; {listed(others)} {have} it already",)


def _later_ones(conversation: Conversation, name: str, sides: Recipients) -> tuple[str, ...]:
    """Return a notice if the latest answers stayed on this machine and the provider gets them only now."""
    later: list[str] = []
    count = 0
    for message in reversed([said for said in conversation.messages if said.role == "assistant"]):
        recipients = recipients_of(message, conversation, sides)
        if OUTSIDE in recipients.values():
            break
        later += recipients
        count += bool(recipients)
    if not later:
        return ()
    what = "last answer" if count == 1 else f"last {count} answers"
    had = f"which only {listed(dict.fromkeys(later))} on this machine had until now"
    return (f"{name} has the beginning of this conversation and also gets its {what}, {had}",)


def _size(conversation: Conversation) -> str:
    count = sum(message.role in ("user", "assistant") for message in conversation.messages)
    size = counted(count, "message")
    passages = passages_in(conversation)
    return f"{size} with {counted(passages, 'passage')} of your documents" if passages else size
