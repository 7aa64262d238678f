"""Moments as people type them: a date, a time, an age, today or yesterday."""

import re
from datetime import datetime, timedelta

from conversation_mcp.clock import utc_now
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.facts import milliseconds_of
from conversation_mcp.text import shorten

AGE = re.compile(r"([1-9][0-9]{0,4})([hdwy])")
UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1), "y": timedelta(days=365)}
DAYS = {"today": 0, "yesterday": 1}
SHOWN_CHARS = 40
EXAMPLES = "2026-01-31, 2026-01-31T12:00:00Z, 36h, 2d, today or yesterday"


def age_of(text: str) -> timedelta | None:
    """Return the duration of an age such as `36h`, `90d`, `12w` or `2y`; None for anything else."""
    found = AGE.fullmatch(text)
    return int(found[1]) * UNITS[found[2]] if found else None


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
