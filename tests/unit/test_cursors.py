"""Cursors are opaque, hold a place, and are refused when they are anything else."""

import json
from base64 import urlsafe_b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures.library import id_of

from conversation_mcp.conversations.cursors import read_cursor, write_cursor
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.found import Place


@given(st.integers(-(1 << 50), 1 << 50), st.integers(0, 10**6), st.text(st.characters(exclude_categories=())))
def test_a_cursor_holds_its_place(updated: int, shown: int, query: str) -> None:
    place = Place(updated, id_of(7), shown, updated + 1)
    cursor = write_cursor(place, query)
    assert read_cursor(cursor, f"  {query}\n") == place
    assert cursor.isascii()


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=())))
def test_whatever_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        read_cursor(text, "")


@pytest.mark.parametrize(
    "data",
    [
        [1, "../x", 0, 0, ""],
        [1e400, id_of(1), 0, 0, ""],
        [1 << 60, id_of(1), 0, 0, ""],
        [1, id_of(1), -1, 0, ""],
        [None, id_of(1), 0, 0, ""],
        [1, None, 0, 0, ""],
        [1, id_of(1), 0, 0],
        {"a": 1},
        7,
        [1, id_of(1), 0, 0, "0123abcd"],
    ],
    ids=str,
)
def test_a_cursor_that_was_tampered_with_is_refused(data: object) -> None:
    cursor = urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")
    with pytest.raises(InvalidInputError, match="cursor"):
        read_cursor(cursor, "")
    with pytest.raises(InvalidInputError):
        read_cursor(urlsafe_b64encode(b"[" * 200).decode(), "")


def test_a_cursor_of_another_query_is_refused() -> None:
    cursor = write_cursor(Place(1, id_of(1)), "apples")
    with pytest.raises(InvalidInputError, match="another query"):
        read_cursor(cursor, "pears")
    with pytest.raises(InvalidInputError, match="another query"):
        read_cursor(cursor, "")
