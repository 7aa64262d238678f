"""Where an imported conversation came from."""

from pydantic import Field

from conversation_mcp.records.record import Record


class Imported(Record):
    """The origin of an imported conversation, by which a later import recognizes it."""

    source: str = Field(alias="from")
    """The format or program that it came from."""
    id: str
    """Its id there."""
