"""A token bucket: it holds at most `amount` tokens, and is filled evenly."""

import hashlib
from typing import NamedTuple

from conversation_mcp.limits.base import Rate


class Bucket(NamedTuple):
    """What is left, at a moment in seconds."""

    tokens: float
    at: float


def taken(bucket: Bucket | None, rate: Rate, now: float, count: int = 1) -> tuple[Bucket, float]:
    """Return the bucket after so many were taken, and 0; or the bucket as it is, and when they will be there.

    A new bucket is full. A clock that was set back neither fills nor empties it.
    """
    per_second = rate.amount / rate.per_seconds
    tokens = float(rate.amount)
    if bucket is not None:
        tokens = min(tokens, bucket.tokens + max(0.0, now - bucket.at) * per_second)
    if tokens >= count:
        return Bucket(tokens - count, now), 0.0
    return Bucket(tokens, now), (count - tokens) / per_second


def name_of(owner: str, kind: str) -> str:
    """Return a name for a bucket that is safe as that of a file, whatever the owner is called."""
    return f"{kind}-{hashlib.sha256(owner.encode()).hexdigest()[:16]}"
