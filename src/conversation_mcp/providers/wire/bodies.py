"""The bytes of a response, decompressed in small pieces, so that limits apply to the size after decompression."""

import sys
import zlib
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, cast

from anyio.lowlevel import checkpoint

if TYPE_CHECKING:
    import httpx

ACCEPTED = "gzip, deflate"
"""The encodings in requests; no other one is decompressed, and only one layer."""
UNPACKING = {"gzip": 47, "x-gzip": 47, "deflate": 47}  # 32 + 15: zlib tells the two apart by their headers
RAW_DEFLATE = -15
GZIP_MAGIC = b"\x1f\x8b"
PIECE_BYTES = 64 * 1024
MAX_BODY_BYTES = 8 * 2**20
"""Far more than the longest answer, run or list of models in one piece."""
MAX_STREAM_BYTES = 128 * 2**20
"""Far more than the stream of the longest answer, most of which is not kept."""
MAX_KEPT_BYTES = 48 * 2**20
MAX_TEXT_CHARS = 4 * 2**20


class UnreadableBodyError(ValueError):
    """A response is larger than anything sent on purpose, or compressed in a way that was not requested."""


async def decoded(response: "httpx.Response", max_bytes: int) -> AsyncGenerator[bytes]:
    """Yield the decompressed body in small pieces.

    Raises:
        UnreadableBodyError: the body is larger than `max_bytes`; this comes before it fills the memory.
        httpx.HTTPError: the body broke off, or is damaged.
    """
    size_bytes = 0
    async with aclosing(_pieces(response)) as pieces:
        async for piece in pieces:
            size_bytes += len(piece)
            if size_bytes > max_bytes:
                message = f"sent too much: a response is larger than {max_bytes} bytes"
                raise UnreadableBodyError(message)
            yield piece


async def whole(response: "httpx.Response") -> bytes:
    """Return the decompressed body; raises as `decoded`."""
    async with aclosing(decoded(response, MAX_BODY_BYTES)) as pieces:
        return b"".join([piece async for piece in pieces])


async def _pieces(response: "httpx.Response") -> AsyncGenerator[bytes]:
    if response.is_stream_consumed:
        yield response.content
        return
    unpacker = _unpacker(response)
    async for chunk in response.aiter_raw():
        if unpacker is None:
            yield chunk
            continue
        for piece in unpacker.unpacked(chunk):
            yield piece
            await checkpoint()  # a small chunk can become many pieces, between which others must run


def _unpacker(response: "httpx.Response") -> "_Unpacker | None":
    told = response.headers.get("content-encoding", "")
    names = [name for part in told.split(",") if (name := part.strip().lower()) not in {"", "identity"}]
    if not names:
        return None
    if len(names) > 1 or names[0] not in UNPACKING:
        message = f"packed the answer as {told[:40]!r}, which was not asked for"
        raise UnreadableBodyError(message)
    return _Unpacker(UNPACKING[names[0]])


class _Unpacker:
    def __init__(self, window_bits: int) -> None:
        self._window_bits = window_bits
        self._unpacking = zlib.decompressobj(window_bits)
        self._has_begun = False

    def unpacked(self, data: bytes) -> Iterator[bytes]:
        """Yield the decompressed data in pieces of limited size."""
        import httpx

        while data:
            try:
                piece = self._unpacking.decompress(data, PIECE_BYTES)
            except zlib.error as error:
                if self._has_begun or self._window_bits == RAW_DEFLATE:
                    message = "the response cannot be unpacked"
                    raise httpx.DecodingError(message) from error
                self._window_bits = RAW_DEFLATE  # some servers leave out the header of deflate
                self._unpacking = zlib.decompressobj(RAW_DEFLATE)
                continue
            self._has_begun = True  # a later error is damage, no sign of another format
            data = self._unpacking.unconsumed_tail
            if self._unpacking.eof:  # gzip may consist of several members; other data behind the end is dropped
                data = self._unpacking.unused_data if self._unpacking.unused_data.startswith(GZIP_MAGIC) else b""
                self._unpacking = zlib.decompressobj(self._window_bits)
            if piece:
                yield piece


class KeptSize:
    """Counts the memory that is kept of a response while it arrives."""

    def __init__(self) -> None:
        self._size_bytes = 0
        self._text_chars = 0

    def text(self, piece: str) -> str:
        """Count and return a piece of text that is kept; raises UnreadableBodyError at the limit."""
        self._text_chars += len(piece)
        self._size_bytes += sys.getsizeof(piece)
        self._check()
        return piece

    def data(self, value: object) -> None:
        """Count JSON that is kept; raises as `text`."""
        self._size_bytes += size_of(value)
        self._check()

    def _check(self) -> None:
        if self._text_chars > MAX_TEXT_CHARS or self._size_bytes > MAX_KEPT_BYTES:
            message = "sent too much: the answer is larger than any that is written on purpose"
            raise UnreadableBodyError(message)


def size_of(value: object) -> int:
    """Return the approximate memory of a JSON value, in bytes."""
    size_bytes, left = 0, [value]
    while left:
        item = left.pop()
        size_bytes += sys.getsizeof(item)
        if isinstance(item, Mapping):
            left += cast("Mapping[str, object]", item).values()
        elif isinstance(item, list):
            left += cast("list[object]", item)
    return size_bytes
