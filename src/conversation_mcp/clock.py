"""The system's clock, for those who are given no other."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the time of this moment; the only place that asks the system's clock."""
    return datetime.now(UTC)  # noqa: TID251 -- the one clock


def parse_time(text: str) -> datetime:
    """Read an ISO 8601 time and return it in UTC; one without a zone is taken as UTC. Raises ValueError.

    What lies hours before or after all the years that there are, 1 to 9999, is taken without its zone.
    """
    moment = datetime.fromisoformat(text)
    try:
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError:
        return moment.replace(tzinfo=UTC)
