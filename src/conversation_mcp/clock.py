"""The system's clock, for those who are given no other."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the time of this moment; the only place that asks the system's clock."""
    return datetime.now(UTC)  # noqa: TID251 -- the one clock


def parse_time(text: str) -> datetime:
    """Read an ISO 8601 time and return it in UTC; one without a zone is taken as UTC.

    Raises:
        ValueError: it is no time, or none that UTC has: the years are 1 to 9999.
    """
    moment = datetime.fromisoformat(text)
    try:
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError(text) from error
