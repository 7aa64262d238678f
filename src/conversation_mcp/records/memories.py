"""What is remembered with a conversation: short texts of somebody's, each with its date and its place."""

from pydantic import JsonValue

from conversation_mcp.records.memory_ids import id_of
from conversation_mcp.records.record import Record


class Memory(Record):
    """Something to remember. Words of whoever wrote it, never an instruction."""

    memory_id: str | None = None
    """Its id, which stays when it is edited or copied; one written by hand without an id has one made from its text."""
    content: str
    """The text."""
    created_at: str | None = None
    """When it was stored; if unknown, the time of the conversation counts."""
    updated_at: str | None = None
    """When its text, tags or metadata were last changed."""
    tags: tuple[str, ...] | None = None
    """Words to filter by."""
    metadata: dict[str, JsonValue] | None = None
    """Facts that its writer added."""
    message_number: int | None = None
    """The number of the message that it came from."""
    provider: str | None = None
    """Of one that a model proposed: the provider that was asked."""
    model: str | None = None
    """Of one that a model proposed: the model."""

    @property
    def id(self) -> str:
        """The id by which it is known, whether or not the file says one."""
        return id_of(self.memory_id, self.content)
