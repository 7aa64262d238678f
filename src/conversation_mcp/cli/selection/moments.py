"""Moments as people type them: a date, a time, an age, today or yesterday."""

from datetime import datetime, timedelta

from conversation_mcp.clock import utc_now
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.ages import age_of
from conversation_mcp.records.facts import milliseconds_of
from conversation_mcp.text import shorten

DAYS = {"today": 0, "yesterday": 1}
SHOWN_CHARS = 40
EXAMPLES = "2026-01-31, 2026-01-31T12:00:00Z, 36h, 2d, today or yesterday"


def milliseconds_at(option: str, text: str) -> int:
    """Return the time given for an option, in milliseconds since 1970.

    Raises:
        InvalidInputError: the text is not a time.
    """
    try:
        moment = _relative(text)
        return milliseconds_of(text if moment is None else moment.isoformat())
    except (ValueError, OverflowError):
        raise InvalidInputError(
            f"{option} must be a date or time such as {EXAMPLES}; got {shorten(text, SHOWN_CHARS)!r}."
        ) from None


def day_at(text: str) -> str:
    """Return the local day of an age, today or yesterday; any other text unchanged."""
    try:
        moment = _relative(text)
    except OverflowError:
        return text
    return text if moment is None else moment.date().isoformat()


def _relative(text: str) -> datetime | None:
    """Return the moment of an age, or the beginning of the day in the local time zone; None for any other text."""
    now = utc_now().astimezone()
    if (age := age_of(text)) is not None:
        return now - age
    if text not in DAYS:
        return None
    day = (now - timedelta(days=DAYS[text])).date()
    # The offset is that of this day, not of now: the clocks may have changed since.
    return datetime(day.year, day.month, day.day).astimezone()
