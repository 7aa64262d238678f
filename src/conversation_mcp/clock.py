"""The system clock, and the reading of times."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the current time; only this function asks the system clock."""
    return datetime.now(UTC)  # noqa: TID251 -- the one clock


def parse_time(text: str) -> datetime:
    """Parse an ISO 8601 time and return it in UTC, which is also the default zone. Raises ValueError.

    The zone is ignored if the time in UTC would be outside of the years 1 to 9999.
    """
    moment = datetime.fromisoformat(text)
    try:
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError:
        return moment.replace(tzinfo=UTC)
