"""Cursors, opaque to clients, which hold the place where a page ended."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256

from conversation_mcp.errors import Argument, InvalidInputError
from conversation_mcp.records.found import Place
from conversation_mcp.records.ids import SHAPE

CURSOR = Argument("cursor")
MAX_CHARS = 400
MAX_NUMBER = 1 << 53


def write_cursor(place: Place, query: str) -> str:
    """Return the cursor of a place in the results of the query, or in the list if the query is blank."""
    data = json.dumps([*place, _digest(query)], separators=(",", ":"))
    return urlsafe_b64encode(data.encode()).decode().rstrip("=")


def read_cursor(cursor: str, query: str) -> Place:
    """Return the place of a cursor.

    Raises:
        InvalidInputError: the text is not a cursor, or belongs to another query.
    """
    try:
        place, digest = _parse(cursor)
    except (ValueError, TypeError, OverflowError):
        raise InvalidInputError(CURSOR, " must be the nextCursor of an earlier result, unchanged.") from None
    if digest != _digest(query):
        raise InvalidInputError(CURSOR, " belongs to another query; give the same query again, or no cursor.")
    return place


def _parse(cursor: str) -> tuple[Place, str]:
    if len(cursor) > MAX_CHARS:
        raise ValueError(cursor)
    updated, last, shown, newest, digest = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    place = Place(int(updated), last, int(shown), int(newest))
    if (
        not SHAPE.fullmatch(last)
        or place.shown < 0
        or max(map(abs, (place.updated_milliseconds, place.shown, place.newest_milliseconds))) > MAX_NUMBER
    ):
        raise ValueError(cursor)
    return place, digest


def _digest(query: str) -> str:
    words = " ".join(query.split())
    return sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:8] if words else ""
