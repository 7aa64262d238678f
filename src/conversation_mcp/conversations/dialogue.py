"""The dialogue of a chatbot, which logs what it and its users say."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

from pydantic import JsonValue

from conversation_mcp.cancellation import finish
from conversation_mcp.conversations.labels import Clean, title_line, with_facts
from conversation_mcp.errors import Argument, ConversationClosedError, InvalidInputError, RateLimitedError
from conversation_mcp.limits.base import Rate
from conversation_mcp.records.ids import check_id, created_at
from conversation_mcp.records.message_ids import with_ids
from conversation_mcp.records.models import Conversation, ConversationId, Message, parse_time
from conversation_mcp.redacting.texts import CountedTexts, Notices, TextRedaction
from conversation_mcp.settings import Settings
from conversation_mcp.stores.base import Store
from conversation_mcp.text import storable, storable_data

LoggedRole = Literal["user", "assistant"]
Metadata = Mapping[str, JsonValue]
IsFree = Callable[[ConversationId], Awaitable[bool]]
"""Tells whether nobody else has this id."""


class NewMessage(NamedTuple):
    """A message as the chatbot gives it."""

    role: LoggedRole
    content: str
    metadata: Metadata | None = None
    client_message_id: str | None = None
    name: str = "content"
    """What its text is called where it was given."""
    unredacted_id: str | None = None
    """The id that it had before that was redacted, under which it may have been stored earlier."""


class Dialogues:
    """Logs messages. No provider is asked, and no turn is waited for."""

    def __init__(self, owner: str, store: Store, settings: Settings, redaction: TextRedaction) -> None:
        self._owner = owner
        self._store = store
        self._settings = settings
        self._redaction = redaction

    async def create(
        self, title: str | None, metadata: Metadata | None, is_free: IsFree
    ) -> tuple[Conversation, Notices]:
        """Start an empty conversation under an id that is free everywhere, and return notices about what it is called.

        Raises:
            InvalidInputError: the title is not valid.
            RateLimitedError: the owner starts too many.
        """
        (line, facts), notices = await self._redaction.counted(
            "the title and the metadata",
            lambda clean: (title_line(title, clean.text), _data(metadata, clean)),
        )  # raises before anything is counted
        await self._count("conversations", self._settings.max_conversations_per_minute)
        return await finish(self._create(line, facts, is_free)), notices

    async def _create(self, title: str | None, metadata: Metadata | None, is_free: IsFree) -> Conversation:
        conversation_id = await self._store.reserve()
        try:
            # Asked after it is reserved: of two who want the same id in different places, the later one sees the other.
            while not await is_free(conversation_id):
                taken, conversation_id = conversation_id, await self._next(conversation_id)
                await self._store.unreserve(taken)
            conversation = _started(conversation_id, title, metadata)
            await self._store.create(conversation)
        except BaseException:
            await self._store.unreserve(conversation_id)
            raise
        return conversation

    async def _next(self, conversation_id: ConversationId) -> ConversationId:
        return await self._store.reserve(parse_time(created_at(conversation_id)))

    async def add(self, conversation_id: str, messages: Sequence[NewMessage]) -> tuple[tuple[Message, ...], Notices]:
        """Add the messages in one write, and return them as they are stored, each with its id, and notices.

        One whose `client_message_id` is there already is returned as it was stored first.

        Raises:
            InvalidInputError: a text is blank or too long, or a `client_message_id` stands for another message.
            ConversationClosedError: it was completed.
            RateLimitedError: the owner logs too many. Nothing was stored.
        """
        checked = check_id(conversation_id)
        for message in messages:
            self._check(message)
        if not await self._store.exists(checked):
            await self._store.load(checked)  # raises the reason before anything is counted
        await self._count("messages", self._settings.max_messages_per_minute, len(messages))
        added: list[Message] = []
        new, notices = await self._redaction.counted(
            _named(messages), lambda clean: [_redacted(message, clean) for message in messages]
        )

        def add(stored: Conversation, now: str) -> Conversation:
            if stored.ended_at is not None:
                raise ConversationClosedError(checked, stored.ended_at)
            changed, added[:] = _with(stored, new, now, self._redaction.text)
            if changed is stored:
                raise _AllThereError
            return changed

        with suppress(_AllThereError):
            await self._store.update(checked, add)
        return tuple(added), notices

    async def _count(self, kind: str, per_minute: int, count: int = 1) -> None:
        if count > per_minute:
            raise InvalidInputError(
                Argument(kind), f" are {count:,}; the limit is {per_minute:,} a minute. Give fewer at once."
            )
        if seconds := await self._store.limits.take(self._owner, kind, Rate(per_minute), count):
            raise RateLimitedError(f"{per_minute:,} a minute for new {kind}", seconds)

    def _check(self, message: NewMessage) -> None:
        if not message.content.strip():
            raise InvalidInputError(Argument(message.name), " must not be blank.")
        if len(message.content) > (limit := self._settings.max_message_chars):
            raise InvalidInputError(
                Argument(message.name),
                f" has {len(message.content):,} characters; at most {limit:,} are accepted.",
            )


class _AllThereError(Exception):
    """All messages are stored already, so that nothing is to be written."""


def _started(conversation_id: ConversationId, title: str | None, metadata: Metadata | None) -> Conversation:
    now = created_at(conversation_id)
    begun = Conversation.of(
        conversation_id=conversation_id,
        created_at=now,
        updated_at=now,
        message_count=0,
        metadata=metadata or None,
        messages=(),
    )
    return with_facts(begun, title)


def _redacted(message: NewMessage, clean: CountedTexts) -> NewMessage:
    """Return the message as it may be stored; its id still tells it from others."""
    own = message.client_message_id and storable(message.client_message_id)
    return message._replace(
        content=clean.text(storable(message.content)),
        metadata=_data(message.metadata, clean),
        client_message_id=own and clean.name(own),
        unredacted_id=own,
    )


def _data(metadata: Metadata | None, clean: CountedTexts) -> Metadata | None:
    return clean.data(storable_data(metadata)) if metadata else None


def _named(messages: Sequence[NewMessage]) -> str:
    return "the message" if len(messages) == 1 else "the messages"


def _with(
    stored: Conversation, new: Sequence[NewMessage], now: str, clean: Clean
) -> tuple[Conversation, list[Message]]:
    """Return the conversation, which stays the same if all are there, and each message as it is stored.

    What was stored before redaction was on is the same message as what comes again redacted.
    """
    messages = list(with_ids(stored.messages))
    known = {name: place for place, one in enumerate(messages) if (name := one.client_message_id)}
    places: list[int] = []
    for message in new:
        made = _made(message, now)
        place = known.get(message.unredacted_id or "", len(messages))
        if made.client_message_id:
            place = known.setdefault(made.client_message_id, place)
        places.append(place)
        if place == len(messages):
            messages.append(made)
        elif messages[place].role != made.role or made.content not in _texts(messages[place], clean):
            raise InvalidInputError(
                Argument("clientMessageId"),
                f" {made.client_message_id!r} stands for another message already; nothing was stored. Give a new "
                "message an id of its own.",
            )
    if len(messages) == len(stored.messages):
        return stored, [messages[place] for place in places]
    named = with_ids(messages)
    # As after a question, an archived conversation is in lists again.
    changed = stored.changed(messages=named, **({"archived": None} if stored.archived else {}))
    return changed, [named[place] for place in places]


def _texts(message: Message, clean: Clean) -> Iterator[str]:
    yield message.content
    yield clean(message.content)


def _made(message: NewMessage, now: str) -> Message:
    return Message.of(
        role=message.role,
        content=message.content,
        client_message_id=message.client_message_id,
        metadata=message.metadata,
        created_at=now,
    )
