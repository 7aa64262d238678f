"""Moments as people type them: a date, a time, how long ago, today or yesterday."""

import re
from datetime import datetime, timedelta

from conversation_mcp.cli.usage import WrongUsageError
from conversation_mcp.clock import utc_now
from conversation_mcp.records.facts import milliseconds_of
from conversation_mcp.text import shorten

AGE = re.compile(r"([1-9][0-9]{0,4})([hdwy])")
UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1), "y": timedelta(days=365)}
DAYS = {"today": 0, "yesterday": 1}
SHOWN_CHARS = 40
EXAMPLES = "2026-01-31, 2026-01-31T12:00:00Z, 36h, 2d, today or yesterday"


def age_of(text: str) -> timedelta | None:
    """Return how long `36h`, `90d`, `12w` or `2y` is; None for anything else."""
    found = AGE.fullmatch(text)
    return int(found[1]) * UNITS[found[2]] if found else None


def milliseconds_at(option: str, text: str) -> int:
    """Return the time that an option was given, in milliseconds since 1970.

    Raises:
        WrongUsageError: it is no time.
    """
    try:
        moment = _relative(text)
        return milliseconds_of(text if moment is None else moment.isoformat())
    except (ValueError, OverflowError):
        raise WrongUsageError(
            f"{option} must be a date or time such as {EXAMPLES}; got {shorten(text, SHOWN_CHARS)!r}."
        ) from None


def day_at(text: str) -> str:
    """Return the day that is meant, here; a text that is neither an age nor a word for a day as it is."""
    try:
        moment = _relative(text)
    except OverflowError:
        return text
    return text if moment is None else moment.date().isoformat()


def _relative(text: str) -> datetime | None:
    """Return the moment so long ago, or the beginning of the day in the zone of this machine."""
    now = utc_now().astimezone()
    if (age := age_of(text)) is not None:
        return now - age
    if text not in DAYS:
        return None
    day = (now - timedelta(days=DAYS[text])).date()
    return datetime(day.year, day.month, day.day).astimezone()
