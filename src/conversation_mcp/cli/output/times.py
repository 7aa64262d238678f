"""Moments in words, relative to now."""

from datetime import datetime

MINUTE, HOUR, DAY = 60, 3600, 86400
WEEK_DAYS = 7


def when(moment: datetime, now: datetime) -> str:
    """Return how long ago the moment was, or its day in the time zone of `now`."""
    seconds = (now - moment).total_seconds()
    if 0 <= seconds < MINUTE:
        return "just now"
    if 0 <= seconds < HOUR:
        return f"{seconds // MINUTE:.0f} min ago"
    local = _in_zone_of(now, moment)
    days = (now.date() - local.date()).days
    if days == 0 and seconds >= 0:
        return f"{seconds // HOUR:.0f} h ago"
    if days == 1:
        return "yesterday"
    if 0 < days < WEEK_DAYS:
        return f"{local:%a}"
    return f"{local.day} {local:%b}" if local.year == now.year and days > 0 else f"{local:%Y-%m-%d}"


def _in_zone_of(now: datetime, moment: datetime) -> datetime:
    try:
        return moment.astimezone(now.tzinfo)
    except OverflowError:  # within hours of the least or greatest datetime, where the zone's time is out of range
        return moment
