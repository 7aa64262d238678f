"""The system's clock, for those who are given no other."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the time of this moment; the only place that asks the system's clock."""
    return datetime.now(UTC)  # noqa: TID251 -- the one clock
