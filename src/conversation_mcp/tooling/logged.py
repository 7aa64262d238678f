"""The arguments and results of the tools for a chatbot's log."""

import json
from collections.abc import Iterable
from typing import Annotated, cast

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, ValidationError, WithJsonSchema

from conversation_mcp.conversations.dialogue import LoggedRole, NewMessage
from conversation_mcp.errors.validation import requirement
from conversation_mcp.records.models import Conversation, Message
from conversation_mcp.records.record import Record
from conversation_mcp.records.usage import Usage
from conversation_mcp.tooling.tool import Input

MAX_METADATA_CHARS = 10_000
MAX_CLIENT_ID_CHARS = 200
MAX_MESSAGES = 500
FORM = '{"role": "user", "content": "Hello"}'


def _decoded(value: object) -> object:
    """Return the value of a JSON text, which some clients send in place of a list or an object."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _bounded(metadata: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if (size := len(json.dumps(metadata, ensure_ascii=False))) > MAX_METADATA_CHARS:
        message = f"takes up to {MAX_METADATA_CHARS:,} characters as JSON; got {size:,}"
        raise ValueError(message)
    return metadata


Metadata = Annotated[
    dict[str, JsonValue], BeforeValidator(_decoded), AfterValidator(_bounded), WithJsonSchema({"type": "object"})
]
ClientMessageId = Annotated[str | None, Field(alias="clientMessageId", min_length=1, max_length=MAX_CLIENT_ID_CHARS)]


class MessageInput(Input):
    """A message to log."""

    role: LoggedRole
    content: str
    metadata: Metadata | None = None
    client_message_id: ClientMessageId = None

    def message(self, name: str = "content") -> NewMessage:
        """Return the message; `name` is what its text is called in errors."""
        return NewMessage(self.role, self.content, self.metadata, self.client_message_id, name)


def _messages(value: object) -> object:
    given = _decoded(value)
    if not isinstance(given, list | tuple) or not 1 <= len(cast("list[object]", given)) <= MAX_MESSAGES:
        message = f"must be a list of 1 to {MAX_MESSAGES} messages such as {FORM}"
        raise ValueError(message)
    return tuple(_message(place, one) for place, one in enumerate(cast("list[object]", given)))


def _message(place: int, given: object) -> MessageInput:
    try:
        return MessageInput.model_validate(given)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(map(str, problem["loc"]))
        message = f"must be objects such as {FORM}; in message {place + 1}, {where or 'it'}: {requirement(problem)}"
        raise ValueError(message) from None


Messages = Annotated[
    tuple[MessageInput, ...],
    BeforeValidator(_messages),
    WithJsonSchema({"type": "array", "items": {"type": "object"}}),
]


class CreatedConversation(Record):
    """A conversation that was started for a user."""

    conversation_id: str
    """Its id."""
    user_id: str
    """Whose it is."""
    status: str
    """`created`."""
    created_at: str
    """When it was started."""
    title: str | None = None
    """The title that was given."""
    notices: tuple[str, ...] | None = None
    """What was replaced before it was stored."""


class StoredMessage(Record):
    """A message that was stored."""

    message_id: str
    """Its id in the conversation."""
    conversation_id: str
    """The id of the conversation."""
    role: str
    """`user` or `assistant`."""
    status: str
    """`stored`; also if it was stored before, under the same `clientMessageId`."""
    created_at: str | None = None
    """When it was stored first."""
    client_message_id: str | None = None
    """The id that the chatbot gave it."""
    notices: tuple[str, ...] | None = None
    """What was replaced before it was stored."""


class StoredMessages(Record):
    """Messages that were stored in one write."""

    conversation_id: str
    """The id of the conversation."""
    status: str
    """`stored`."""
    messages: tuple[StoredMessage, ...]
    """The messages, in the order of the call."""
    notices: tuple[str, ...] | None = None
    """What was replaced in them before they were stored."""


class SummarizedConversation(Record):
    """What stands for the first messages of a conversation."""

    conversation_id: str
    """The id of the conversation."""
    status: str
    """`summarized`; `unchanged` if it was there or is not needed; `running`: the same call again waits for it."""
    summary: str | None = None
    """The summary, which `recent` returns for the messages that it covers."""
    summarized_count: int | None = None
    """How many of the first messages it covers."""
    total_count: int | None = None
    """How many messages the log has."""
    model_used: str | None = None
    """The model that wrote it."""
    usage: Usage | None = None
    """Tokens and cost."""
    notices: tuple[str, ...] | None = None
    """Who got the words, and what is missing."""


def created(conversation: Conversation, user_id: str, notices: tuple[str, ...]) -> CreatedConversation:
    """Return what is told of a new conversation."""
    return CreatedConversation.of(
        conversation_id=conversation.conversation_id,
        user_id=user_id,
        status="created",
        created_at=conversation.created_at,
        title=conversation.title,
        notices=notices or None,
    )


def stored(
    messages: Iterable[Message], conversation_id: str, notices: tuple[str, ...] = ()
) -> tuple[StoredMessage, ...]:
    """Return what is told of stored messages; the notices are told of each."""
    return tuple(
        StoredMessage.of(
            message_id=message.message_id,
            conversation_id=conversation_id,
            role=message.role,
            status="stored",
            created_at=message.created_at,
            client_message_id=message.client_message_id,
            notices=notices or None,
        )
        for message in messages
    )
