"""The records of a conversation, as they stand in conversation.json."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, NewType, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

ConversationId = NewType("ConversationId", str)
Role = Literal["system", "developer", "user", "assistant", "tool"]
TurnStatus = Literal["running", "interrupted", "failed"]


def iso(moment: datetime) -> str:
    """Return ISO 8601 in UTC with milliseconds and `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_time(text: str) -> datetime:
    """Read an ISO 8601 time; one without a zone is taken as UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _readable_time(text: str) -> str:
    parse_time(text)
    return text


Timestamp = Annotated[str, AfterValidator(_readable_time)]


class Record(BaseModel):
    """A frozen record with camelCase JSON names that keeps the fields it does not know."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="allow", frozen=True, allow_inf_nan=False
    )

    @classmethod
    def of(cls, **facts: Any) -> Self:  # noqa: ANN401 -- checked by the model
        """Make the record from the facts that are known; None means unknown and stays out of the file."""
        return cls(**{name: value for name, value in facts.items() if value is not None})

    def data(self) -> dict[str, Any]:
        """Return the record as JSON data, without the fields that were never set."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Source(Record):
    """A page or passage that an answer rests on; `id` is the number that `[n]` in the text refers to."""

    id: int
    title: str | None = None
    url: str | None = None
    date: str | None = None
    path: str | None = None
    heading: str | None = None
    start_line: int | None = None
    end_line: int | None = None


class Usage(Record):
    """What an answer took, as the provider reported it."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None


class Message(Record):
    """One message and the facts about it."""

    role: Role
    content: str
    created_at: str | None = None
    tool: str | None = None
    options: dict[str, JsonValue] | None = None
    provider: str | None = None
    preset: str | None = None
    model: str | None = None
    response_id: str | None = None
    finish_reason: str | None = None
    sources: tuple[Source, ...] | None = None
    related_questions: tuple[str, ...] | None = None
    usage: Usage | None = None
    notices: tuple[str, ...] | None = None
    reasoning: str | None = None


class TurnError(Record):
    """Why a question has no answer."""

    code: str
    message: str


class PendingTurn(Record):
    """A question without its answer: no message, never resent."""

    question: str
    tool: str | None = None
    provider: str | None = None
    model: str | None = None
    options: dict[str, JsonValue] | None = None
    status: TurnStatus = "running"
    started_at: str | None = None
    response_id: str | None = None
    background: bool | None = None
    partial_text: str | None = None
    error: TurnError | None = None
    usage: Usage | None = None


class Conversation(Record):
    """An ordered list of messages with an id. The first five fields of the file are the contract."""

    conversation_id: str
    created_at: Timestamp
    updated_at: Timestamp
    message_count: int
    title: str | None = None
    tags: tuple[str, ...] | None = None
    archived: bool | None = None
    parent: dict[str, JsonValue] | None = None
    pending_turn: PendingTurn | None = None
    unanswered_turns: tuple[PendingTurn, ...] | None = None
    messages: tuple[Message, ...]

    def changed(self, **changes: object) -> "Conversation":
        """Return a copy with the changes; a field set to None leaves the file."""
        gone = {name for name, value in changes.items() if value is None}
        copy = self.model_copy(update=changes)
        copy.model_fields_set.difference_update(gone)
        return copy

    @property
    def turn_count(self) -> int:
        """The number of questions that were answered."""
        return sum(message.role == "assistant" for message in self.messages)
