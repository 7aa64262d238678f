"""The records of a conversation, as stored in conversation.json."""

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise
from typing import Annotated, Literal, NewType

from pydantic import AfterValidator, Field, JsonValue

from conversation_mcp.clock import parse_time
from conversation_mcp.records.attached import AttachedFile, AttachedImage
from conversation_mcp.records.imported import Imported
from conversation_mcp.records.memories import Memory
from conversation_mcp.records.record import Record
from conversation_mcp.records.relations import Relation
from conversation_mcp.records.side_calls import Extraction, Recipients, Summary, TurnError
from conversation_mcp.records.usage import Tokens, Usage
from conversation_mcp.records.workflow_steps import WorkflowStep

ConversationId = NewType("ConversationId", str)
Role = Literal["system", "developer", "user", "assistant", "tool"]
TurnStatus = Literal["running", "interrupted", "failed"]
CallStatus = Literal["running", "interrupted", "failed", "completed"]


def iso(moment: datetime) -> str:
    """Return ISO 8601 in UTC with milliseconds and `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _readable_time(text: str) -> str:
    parse_time(text)
    return text


Timestamp = Annotated[str, AfterValidator(_readable_time)]


class Source(Record):
    """A page or passage that an answer rests on; `id` is the number that `[n]` in the text refers to."""

    id: int
    """The number that `[n]` in the text refers to."""
    title: str | None = None
    """The title of the page or document."""
    url: str | None = None
    """The address of the page; of a passage, the address of its file."""
    date: str | None = None
    """The date of the page, as the provider gave it."""
    snippet: str | None = None
    """The provider's quotation from the page, so that the answer can be checked without it."""
    path: str | None = None
    """The absolute path of the document."""
    heading: str | None = None
    """The headings above the passage, joined by `>`."""
    start_line: int | None = None
    """The first line of the passage, from 1."""
    end_line: int | None = None
    """The last line of the passage."""
    found_by: Literal["words", "meaning", "both"] | None = None
    """What found the passage; absent if only words were searched for."""

    @property
    def place(self) -> str:
        """The line of a document, or the address; empty if neither is known."""
        if self.path:
            return f"{self.path}:{self.start_line}" if self.start_line else self.path
        return self.url or ""


def without_snippets(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return the sources without their quotations."""
    return tuple(Source.of(**{name: value for name, value in source if name != "snippet"}) for source in sources)


class Message(Record):
    """One message and the facts about it."""

    role: Role
    """The author of the message."""
    content: str
    """The text as it was asked or answered, without anything added."""
    message_id: str | None = None
    """Its id in a chatbot's log, `m-` and a number; it stays when others are edited or removed."""
    client_message_id: str | None = None
    """The id that the chatbot gave it, by which it is stored only once."""
    metadata: dict[str, JsonValue] | None = None
    """Facts that the chatbot added."""
    created_at: str | None = None
    """When it was asked, or when the answer was complete."""
    tool: str | None = None
    """Of a question: the tool that asked."""
    options: dict[str, JsonValue] | None = None
    """Of a question: filters and effort, in the spelling of the arguments."""
    files: tuple[AttachedFile, ...] | None = None
    """Of a question: the files that it names."""
    images: tuple[AttachedImage, ...] | None = None
    """Of a question: the images that it names."""
    provider: str | None = None
    """Of an answer: the provider that gave it."""
    preset: str | None = None
    """Of an answer: the provider's preset that was requested."""
    model: str | None = None
    """Of an answer: the model that gave it."""
    requested_model: str | None = None
    """Of an answer: the model that was named or chosen for it; absent if none was."""
    sent_to: Recipients | None = None
    """Of an answer: everyone who received the text for it, each as `this machine` or `outside`. Of a question in a
    merge: everyone who had received it by then."""
    response_id: str | None = None
    """Of an answer: the id of the run at the provider."""
    finish_reason: str | None = None
    """Of an answer: `stop`, or `length` if the provider cut it off."""
    sources: tuple[Source, ...] | None = None
    """Of an answer: the pages and passages that it rests on."""
    related_questions: tuple[str, ...] | None = None
    """Of an answer: questions that could come next, if they were requested."""
    usage: Usage | None = None
    """Of an answer: tokens and cost."""
    estimated_tokens: Tokens | None = None
    """Of an answer: the tokens that its request was estimated to have, if they were counted."""
    notices: tuple[str, ...] | None = None
    """What was not done as asked, or was left out by an import."""
    reasoning: str | None = None
    """Of an answer: hidden reasoning, kept apart from the answer and never sent again."""
    stance: str | None = None
    """Of an answer in a consensus: `for`, `against`, `neutral`, `own` for a text of its own, or `synthesis`."""


class PendingCall(Record):
    """One of the models that a consensus asks, and what came of it."""

    provider: str
    """The provider that is asked."""
    model: str | None = None
    """The model that was named."""
    stance: str | None = None
    """As in its answer."""
    stance_prompt: str | None = None
    """The text of its own that stands in place of a stance."""
    status: CallStatus = "running"
    """`running`, `interrupted` or `failed` as for the question; `completed` once `answer` is there."""
    sent_to: Recipients | None = None
    """Everyone who received the text, or may have received it, each as `this machine` or `outside`."""
    response_id: str | None = None
    """The provider's id of the run, stored as soon as it is known."""
    background: bool | None = None
    """Whether the run continues at the provider when no process waits for it."""
    estimated_tokens: Tokens | None = None
    """The tokens that its request was estimated to have, if they were counted."""
    partial_text: str | None = None
    """The text received so far, stored at most every 5 seconds."""
    answer: Message | None = None
    """The answer as it will stand among the messages."""
    error: TurnError | None = None
    """Why there is no answer."""
    usage: Usage | None = None
    """What was charged nevertheless."""
    notices: tuple[str, ...] | None = None
    """What its answer will say about the choice of the model."""


class PendingTurn(Record):
    """A question without an answer. It is not a message and is never sent again."""

    question: str
    """The text of the question."""
    tool: str | None = None
    """The tool that asked."""
    provider: str | None = None
    """The provider that it was sent to."""
    model: str | None = None
    """The model that was named or chosen, if one was."""
    sent_to: Recipients | None = None
    """Everyone who received the text, or may have received it, each as `this machine` or `outside`."""
    options: dict[str, JsonValue] | None = None
    """Filters and effort, in the spelling of the arguments."""
    files: tuple[AttachedFile, ...] | None = None
    """The files that it names."""
    images: tuple[AttachedImage, ...] | None = None
    """The images that it names."""
    status: TurnStatus = "running"
    """`interrupted`: its server ended. `failed`: the provider gave no answer."""
    started_at: str | None = None
    """When it was stored, which is before it was sent."""
    after_message: int | None = None
    """How many messages come before it; set when the next question is asked."""
    response_id: str | None = None
    """The provider's id of the run, stored as soon as it is known."""
    background: bool | None = None
    """Whether the run continues at the provider when no process waits for it."""
    estimated_tokens: Tokens | None = None
    """The tokens that the request was estimated to have, if they were counted."""
    partial_text: str | None = None
    """The text received so far, stored at most every 5 seconds."""
    error: TurnError | None = None
    """Why there is no answer."""
    usage: Usage | None = None
    """What was charged nevertheless."""
    notices: tuple[str, ...] | None = None
    """What its answer will say about the choice of the model."""
    calls: tuple[PendingCall, ...] | None = None
    """Of a consensus: the models that are asked side by side."""


class Conversation(Record):
    """An ordered list of messages with an id. The first five fields of the file are the contract."""

    conversation_id: str
    """UTC day and Unix milliseconds. The name of the folder wins if it differs."""
    created_at: Timestamp
    """ISO 8601 in UTC with milliseconds."""
    updated_at: Timestamp
    """The last write; never goes back."""
    message_count: int
    """The number of messages, the system message included; corrected at the next write."""
    title: str | None = None
    """Set by hand, by an import, or by the first step of a workflow; without it, the first question serves."""
    tags: tuple[str, ...] | None = None
    """Words to find it by."""
    archived: bool | None = None
    """Whether it is archived, and so left out of lists."""
    ended_at: str | None = None
    """When it was completed; absent while it goes on. The next question removes it."""
    closing_summary: str | None = Field(default=None, alias="summary")
    """What came of it, in the words of whoever completed it."""
    metadata: dict[str, JsonValue] | None = None
    """Facts that the chatbot which logs it added."""
    parent: dict[str, JsonValue] | None = None
    """The conversation that this one was branched from; of a merge, the first one, with the number of all messages."""
    parents: tuple[dict[str, JsonValue], ...] | None = None
    """Of a merge: the conversations whose messages it holds, in order, and how many messages each contributed."""
    related: tuple[Relation, ...] | None = None
    """Other conversations that somebody has confirmed to belong with it."""
    imported: Imported | None = None
    """Where it was imported from, if it was."""
    pending_turn: PendingTurn | None = None
    """The question that has no answer yet."""
    unanswered_turns: tuple[PendingTurn, ...] | None = None
    """Earlier questions that never got an answer; never sent again."""
    summaries: tuple[Summary, ...] | None = None
    """Summaries of its first messages, each sent in place of those it covers when they do not fit."""
    extractions: tuple[Extraction, ...] | None = None
    """The calls that looked for decisions in it; what they found is among `memories`."""
    workflow_steps: tuple[WorkflowStep, ...] | None = None
    """The steps of workflows, oldest first. They are not messages and are never sent as such."""
    memories: tuple[Memory, ...] | None = None
    """What is to be remembered of it, oldest first. They are not messages and are never sent as such."""
    messages: tuple[Message, ...]
    """Oldest first; their order counts, not their times."""

    def changed(self, **changes: object) -> "Conversation":
        """Return a copy with the changes; a field set to None is removed from the file."""
        gone = {name for name, value in changes.items() if value is None}
        copy = self.model_copy(update=changes)
        copy.model_fields_set.difference_update(gone)
        return copy

    @property
    def longest_summary(self) -> Summary | None:
        """The summary that covers most of its messages."""
        written = (summary for summary in self.summaries or () if summary.content)
        return max(written, key=lambda summary: summary.last_message, default=None)

    @property
    def turn_count(self) -> int:
        """The number of questions that were answered; all verdicts of a consensus answer one."""
        more = sum(bool(one.stance and other.stance) for one, other in pairwise(self.messages))
        return sum(message.role == "assistant" for message in self.messages) - more
