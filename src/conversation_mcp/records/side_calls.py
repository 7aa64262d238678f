"""What models were asked beside the questions of a conversation: summaries of it, and the decisions in it."""

from conversation_mcp.records.record import Record
from conversation_mcp.records.usage import Usage

Recipients = dict[str, str]
"""By name."""


class TurnError(Record):
    """Why a question has no answer."""

    code: str
    """One of the error codes."""
    message: str
    """What happened."""


class Summary(Record):
    """What stands for messages that no longer fit into a request."""

    content: str
    """The text of the summary; empty if none came, or none that could be sent."""
    first_message: int
    """The number of the first message that it covers."""
    last_message: int
    """The number of the last message that it covers."""
    created_at: str | None = None
    """When it was written."""
    provider: str | None = None
    """The provider that wrote it."""
    model: str | None = None
    """The model that wrote it."""
    sent_to: Recipients | None = None
    """Everyone who received the messages for it, each as `this machine` or `outside`."""
    usage: Usage | None = None
    """Tokens and cost, as the provider reported them."""
    error: TurnError | None = None
    """Why there is no text, of one that was charged all the same."""


class Extraction(Record):
    """A call that looked for decisions in a conversation."""

    last_message: int
    """The number of the last message that was sent for it."""
    created_at: str | None = None
    """When it was made."""
    provider: str | None = None
    """The provider that was asked."""
    model: str | None = None
    """The model that was asked."""
    sent_to: Recipients | None = None
    """Everyone who received the messages for it, each as `this machine` or `outside`."""
    usage: Usage | None = None
    """Tokens and cost, as the provider reported them."""
    error: TurnError | None = None
    """Why nothing was taken from the answer, or that none came."""
