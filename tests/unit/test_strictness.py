"""What is refused is refused however it comes in pieces, and what is fine is taken however it does."""

import h11
import pytest

from conversation_mcp.server.http.strictness import StrictReader

HEAD = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
FAULTY = {
    "bare CR behind the size of a chunk": HEAD + b"5;a\rb\r\nhello\r\n0\r\n\r\n",
    "bare CR behind the size of a later chunk": HEAD + b"5\r\nhello\r\n5;a\rb\r\nhello\r\n0\r\n\r\n",
    "bare CR behind the last size": HEAD + b"5\r\nhello\r\n0;a\rb\r\n\r\n",
    "bare LF in a trailer": HEAD + b"5\r\nhello\r\n0\r\nX: a\nY: b\r\n\r\n",
    "bare LF in the head": HEAD.replace(b"Host: 127.0.0.1\r", b"Host: 127.0.0.1") + b"0\r\n\r\n",
}
TEXT = b"\rhel\nlo\r\n\t\x00\r"
FINE = {
    "chunks": HEAD + b"%x;a=b\r\n%b\r\n3\r\nabc\r\n0;c\r\nX: a\r\n\r\n" % (len(TEXT), TEXT),
    "a length": HEAD.replace(b"Transfer-Encoding: chunked", b"Content-Length: %d" % (len(TEXT) + 3)) + TEXT + b"abc",
}


def read(data: bytes, size: int) -> bytes:
    """Return the body of the request that comes in pieces of that size."""
    reader, body, at = StrictReader(h11.SERVER), b"", 0
    while True:
        event = reader.next_event()
        match event:
            case h11.Data():
                body += event.data
            case h11.EndOfMessage():
                return body
            case h11.NEED_DATA:
                assert at < len(data)
                reader.receive_data(data[at : at + size])
                at += size
            case _:
                pass


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
@pytest.mark.parametrize("data", FAULTY.values(), ids=FAULTY)
def test_a_fault_is_seen_in_pieces_of_any_size(data: bytes, size: int) -> None:
    with pytest.raises(h11.RemoteProtocolError, match="a line must end with CRLF"):
        read(data, size)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
@pytest.mark.parametrize("data", FINE.values(), ids=FINE)
def test_a_body_may_hold_anything_and_come_in_pieces_of_any_size(data: bytes, size: int) -> None:
    assert read(data, size) == TEXT + b"abc"
