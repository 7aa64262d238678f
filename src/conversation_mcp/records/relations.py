"""Which other conversations somebody has confirmed to belong with one."""

from typing import Literal, get_args

from conversation_mcp.records.record import Record

RelationType = Literal["follow_up", "related", "duplicate"]
RELATION_TYPES: tuple[RelationType, ...] = get_args(RelationType)
MAX_RELATIONS = 200
"""The most that one conversation keeps."""


class Relation(Record):
    """Another conversation that belongs with this one."""

    conversation_id: str
    """Its id. It may have been deleted since."""
    type: str
    """`follow_up` if it goes on where this one ends, `duplicate` if it says the same, else `related`."""
    score: float | None = None
    """How near it was when that was confirmed, from 0 to 1, if that was known."""
