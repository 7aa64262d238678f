"""An array is cut as a parser would cut it, however it comes in and whatever its strings hold."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversation_mcp.importing.splitter import Cut, NotClosedError, Splitter

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.sampled_from('a"\\[]{},\n\ud800é'), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.sampled_from('k"\\]'), max_size=3), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


def pieces_of(data: bytes, size: int) -> list[bytes]:
    return [data[place : place + size] for place in range(0, len(data), size)]


def split(data: bytes, size: int = 3, max_bytes: int = 1000) -> list[Cut]:
    return list(Splitter(max_bytes).split(pieces_of(data, size)))


@settings(max_examples=200, deadline=None)
@given(
    values=st.lists(VALUES, max_size=5), size=st.integers(1, 40), spaces=st.sampled_from((None, 2)), raw=st.booleans()
)
def test_entries_are_those_of_the_parser_in_pieces_of_any_size(
    values: list[Any], size: int, spaces: int | None, raw: bool
) -> None:
    text = json.dumps(values, indent=spaces, ensure_ascii=raw) + "\n "
    data = text.encode("utf-8", "surrogatepass")
    cuts = split(data, size, max_bytes=100_000)
    assert [json.loads((cut.body or b"").decode("utf-8", "surrogatepass")) for cut in cuts] == values
    for number, cut in enumerate(cuts, 1):
        assert cut.number == number
        body = (cut.body or b"").strip()
        assert data[cut.offset - 1 : cut.offset - 1 + len(body)] == body


@pytest.mark.parametrize(
    ("data", "reason", "offset"),
    [
        (b'[{"a": 1}, {"b": "x', "ends in the middle of entry 2", 19),
        (b'[{"a": 1}', "ends in the middle of entry 1", 9),
        (b'[{"a": 1}]\n[{"b": 2}]', "continues after its end", 12),
        (b"[]\0\0", "continues after its end", 3),
    ],
)
def test_what_does_not_end_as_an_array_is_told_with_its_place(data: bytes, reason: str, offset: int) -> None:
    with pytest.raises(NotClosedError) as raised:
        split(data)
    assert (raised.value.reason, raised.value.offset) == (reason, offset)


def test_an_entry_that_is_too_long_is_told_and_not_kept() -> None:
    cuts = split(b'[1, "' + b"x" * 5000 + b'", 3]')
    assert [cut.body for cut in cuts] == [b"1", None, b" 3"]


def test_nothing_between_two_commas_is_an_entry_that_is_damaged() -> None:
    assert [cut.body for cut in split(b"[1,,2,]")] == [b"1", b"", b"2"]
    assert split(b"[ ]") == []
