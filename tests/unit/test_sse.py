from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_mcp.providers.wire.sse import EventTooLargeError, ServerSentEvent, SseParser

STREAM = (
    "\ufeff: welcome\n"
    'event: response.created\ndata: {"größer":"漢字 🙂"}\n\n'
    "data:two\r\ndata: lines\r\n\r\n"
    ": ping\r\r"
    "event:\rid: 7\rretry: 10\rdata:  one space goes\r\r"
    "data\n\n"
    "event: without data\n\n"
    "data: unfinished"
).encode()
EVENTS = [
    ServerSentEvent("response.created", '{"größer":"漢字 🙂"}'),
    ServerSentEvent("", "two\nlines"),
    ServerSentEvent("", " one space goes"),
    ServerSentEvent("", "unfinished"),
]


def parsed(chunks: list[bytes]) -> list[ServerSentEvent]:
    parser = SseParser()
    return [*(event for chunk in chunks for event in parser.feed(chunk)), *parser.close()]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def test_a_stream_with_every_oddity_is_read() -> None:
    assert parsed([STREAM]) == EVENTS


def test_a_byte_order_mark_is_no_part_of_the_first_field() -> None:
    assert parsed([b"\xef\xbb", b"\xbfdata: 1\n\n"]) == [ServerSentEvent("", "1")]


def test_a_stream_is_read_byte_by_byte() -> None:
    assert parsed([STREAM[place : place + 1] for place in range(len(STREAM))]) == EVENTS


@given(st.lists(st.integers(0, len(STREAM))))
def test_any_chunking_gives_the_same_events(places: list[int]) -> None:
    assert parsed(cut(STREAM, places)) == EVENTS


LINES = st.lists(
    st.tuples(
        st.sampled_from(["data: ", "data:", "event: ", ": ", "", "id: ", "data"]),
        st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])),
        st.sampled_from(["\n", "\r", "\r\n"]),
    )
)


@given(LINES, st.data())
def test_any_chunking_of_any_stream_gives_the_same_events(
    lines: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    stream = "".join(field + text + end for field, text, end in lines).encode()
    places = data.draw(st.lists(st.integers(0, len(stream))))
    assert parsed(cut(stream, places)) == parsed([stream])


def test_an_event_is_given_out_as_soon_as_it_is_complete() -> None:
    parser = SseParser()
    assert parser.feed(b"data: 1\n") == []
    assert parser.feed(b"\n") == [ServerSentEvent("", "1")]


@pytest.mark.parametrize("stream", [[b"data: 12345"], [b"data: 1", b"2345"], [b"data: 1\n", b"data: 2\n"]])
def test_an_event_over_the_limit_is_refused(stream: list[bytes]) -> None:
    parser = SseParser(max_event_bytes=10)
    with pytest.raises(EventTooLargeError):
        [parser.feed(chunk) for chunk in stream]


def test_keep_alive_comments_never_add_up_to_the_limit() -> None:
    parser = SseParser(max_event_bytes=10)
    assert [parser.feed(b": ping\n") for _ in range(100)] == [[]] * 100
    assert parser.feed(b"data: 1\n\ndata: 2\n\ndata: 3\n\n") == [ServerSentEvent("", digit) for digit in "123"]
