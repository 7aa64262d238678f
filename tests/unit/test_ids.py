"""Ids: their shape is the only thing that stands between a caller and the file system."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from tests.fixtures.stores import BAD_IDS, Clock

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.ids import check_id, created_at, id_at, milliseconds_of


def test_an_id_is_the_day_and_the_millisecond_in_utc() -> None:
    assert id_at(1769817600123) == "20260131-1769817600123"


def test_the_time_in_an_id_comes_from_its_milliseconds_not_from_its_date() -> None:
    assert created_at(check_id("20250124-1706102400123")) == "2024-01-24T13:20:00.123Z"


def test_a_moment_is_cut_to_whole_milliseconds() -> None:
    clock = Clock()
    clock.move(0.9999)
    assert milliseconds_of(clock()) == 1769817600999


def test_a_clock_that_was_never_set_still_makes_ids() -> None:
    clock = Clock()
    clock.move(-3e9)
    assert check_id(id_at(milliseconds_of(clock()))) == "19700101-0000000000000"


@pytest.mark.parametrize("text", BAD_IDS)
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="conversationId must look like"):
        check_id(text)


def test_the_refusal_says_how_an_id_looks() -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_id("../x")
    assert str(caught.value) == snapshot(
        "conversationId must look like 20260131-1769817600000 (eight digits, a dash, thirteen digits); got '../x'."
    )


def test_the_refusal_of_a_long_text_is_short_and_can_be_printed() -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_id("\ud800" * 1_000_000)
    assert len(str(caught.value).encode()) < 600


@given(st.integers(0, 9_999_999_999_999))
def test_every_millisecond_has_an_id_that_passes_and_gives_its_time_back(milliseconds: int) -> None:
    made = check_id(id_at(milliseconds))
    assert created_at(made)[:10].replace("-", "") == made[:8]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", created_at(made))


@given(st.text())
def test_whatever_passes_is_plain_digits_and_one_dash(text: str) -> None:
    try:
        passed = check_id(text)
    except InvalidInputError:
        return
    assert len(passed) == 22
    assert set(passed) <= set("0123456789-")
