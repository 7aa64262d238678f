"""The recipients of a conversation's text, as its file names them."""

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files

from conversation_mcp.providers.sides import is_service
from conversation_mcp.providers.whereabouts import HERE, NOWHERE, OUTSIDE, Side, Whereabouts
from conversation_mcp.records.models import Conversation, Message, PendingTurn

SERVICES: Mapping[str, str] = tomllib.loads(
    files("conversation_mcp.conversations").joinpath("services.toml").read_text("utf-8")
)

Recipients = Mapping[str, Side]


def whereabouts_of(conversation: Conversation, sides: Recipients) -> Whereabouts:
    """Return who has the text, according to its answers, calls beside them, and the questions that were not answered.

    A file that names nobody, such as one written by hand, counts as not sent anywhere yet. A merge with a part that has
    only been on this machine counts like that part. `sides` says on which side the configured providers are.
    """
    found = NOWHERE
    for said in (*conversation.messages, *_unanswered(conversation)):
        for name, side in recipients_of(said, conversation, sides).items():
            found = found.also_at(name, side)
    for aside in (*(conversation.summaries or ()), *(conversation.extractions or ())):
        for name, side in _sides_in(aside.sent_to or {}).items():
            found = found.also_at(name, side)
    kept = [had for had in recipients_of_questions(conversation, sides) if had and OUTSIDE not in had.values()]
    if kept and found.outside:
        return Whereabouts(tuple(dict.fromkeys(name for had in kept for name in had)), is_part=True)
    return found


def recipients_of(said: Message | PendingTurn, conversation: Conversation, sides: Recipients) -> Recipients:
    """Return who received the text for this answer or question.

    Files of earlier versions name only the provider that answered. Its present side counts then; a provider that is no
    longer configured, and is not a known service, counts as being on this machine: better to ask once too often.
    """
    told: Recipients = _sides_in(said.sent_to) if said.sent_to else {}
    if isinstance(said, Message) and said.role != "assistant":
        return told
    if said.provider is not None and (said.sent_to is None or (isinstance(said, Message) and not told)):
        return {said.provider: OUTSIDE if is_service(said.provider) else sides.get(said.provider, HERE)}
    if said.sent_to is None and isinstance(said, Message) and conversation.imported is not None:
        source = conversation.imported.source
        return {SERVICES.get(source, source): OUTSIDE if source in SERVICES else HERE}
    return told


def _sides_in(sent_to: Mapping[str, str]) -> Recipients:
    return {name: OUTSIDE if side == OUTSIDE else HERE for name, side in sent_to.items()}


def recipients_of_questions(conversation: Conversation, sides: Recipients) -> Iterator[Recipients]:
    """Yield, for each question that a merge copied, who has it by now: its recipients before the merge and since."""
    if (start := _own_start(conversation)) == 0:
        return
    since = _since(conversation, start, sides)
    for message in conversation.messages[:start]:
        if message.role == "user":
            yield _both(recipients_of(message, conversation, sides), since)


def with_recipients_of_questions(conversation: Conversation) -> tuple[Message, ...]:
    """Return the messages, each question with its recipients: in a merge, not everyone has all the text before it."""
    since = _since(conversation, _own_start(conversation), {})
    return tuple(
        message.model_copy(update={"sent_to": dict(_both(recipients_of(message, conversation, {}), since))})
        if message.role == "user"
        else message
        for message in with_recipients(conversation)
    )


def _own_start(conversation: Conversation) -> int:
    """Return where the messages after a merge begin: with the first question after those that name recipients."""
    messages = conversation.messages
    brought = [place for place, said in enumerate(messages) if said.role == "user" and said.sent_to is not None]
    if not brought:
        return 0
    after = (place for place in range(brought[-1] + 1, len(messages)) if messages[place].role == "user")
    return next(after, len(messages))


def _since(conversation: Conversation, start: int, sides: Recipients) -> Recipients:
    """Return who received the whole text, with the messages from `start` on or with an unanswered question."""
    had: Recipients = {}
    began = conversation.created_at if start else ""
    turns = [turn for turn in _unanswered(conversation) if (turn.started_at or "") >= began]
    for said in (*conversation.messages[start:], *turns):
        had = _both(had, recipients_of(said, conversation, sides))
    return had


def _unanswered(conversation: Conversation) -> tuple[PendingTurn, ...]:
    pending = (conversation.pending_turn,) if conversation.pending_turn else ()
    return (*(conversation.unanswered_turns or ()), *pending)


def _both(first: Recipients, second: Recipients) -> Recipients:
    return {**first, **{name: OUTSIDE if first.get(name) == OUTSIDE else side for name, side in second.items()}}


def with_recipients(conversation: Conversation) -> tuple[Message, ...]:
    """Return the messages, each answer with its recipients, for a copy that does not keep the origin of the import."""
    if conversation.imported is None:
        return conversation.messages
    return tuple(
        message.model_copy(update={"sent_to": dict(known)})
        if message.sent_to is None and (known := recipients_of(message, conversation, {}))
        else message
        for message in conversation.messages
    )


def passages_in(conversation: Conversation) -> int:
    """Return how many passages from the user's documents the answers cite."""
    return sum(source.path is not None for message in conversation.messages for source in message.sources or ())
