"""Arguments that the tools of memories share."""

from typing import Annotated, Any

from pydantic import AfterValidator, WithJsonSchema

from conversation_mcp.errors import Argument, InvalidInputError
from conversation_mcp.records.facts import milliseconds_of
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import ConversationId


def _between(least: int, most: int) -> AfterValidator:
    """Return a check that does not stand in the schema, which every client pays for."""

    def check(value: int) -> int:
        if not least <= value <= most:
            raise ValueError(f"must be from {least:,} to {most:,}")
        return value

    return AfterValidator(check)


UpToHundred = Annotated[int, _between(1, 100)]
Tokens = Annotated[int, _between(50, 50_000)]
Embedding = Annotated[list[Any], WithJsonSchema({"type": "array", "items": {"type": "number"}})]
Metadata = Annotated[dict[str, Any], WithJsonSchema({"type": "object"})]


def home_of(conversation_id: str | None) -> ConversationId | None:
    """Return the conversation that is named, None for all. Raises InvalidInputError for a bad id."""
    return ConversationId(check_id(conversation_id)) if conversation_id else None


def since_of(text: str | None) -> int | None:
    """Return the time in milliseconds, None if there is none. Raises InvalidInputError for one that cannot be read."""
    try:
        return milliseconds_of(text) if text else None
    except ValueError:
        raise InvalidInputError(Argument("since"), " must be a date such as 2026-01-31.") from None
