"""Kind and size of images, read from their bytes without decoding them."""

import struct
import zlib
from collections.abc import Callable

from conversation_mcp.attaching.limits import RefusedError

PNG, JPEG, WEBP, GIF = "image/png", "image/jpeg", "image/webp", "image/gif"
PNG_MARK = b"\x89PNG\r\n\x1a\n"
HEADER_BYTES = 16
DAMAGED = "a damaged image"
UNKNOWN = "not an image that can be sent; those are PNG, JPEG, WebP and GIF"
FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The markers of JPEG's frames; those between them are tables and an extension."""
LONELY_MARKERS = frozenset({0x01, *range(0xD0, 0xD8)})
END_OF_IMAGE, START_OF_SCAN = 0xD9, 0xDA

Size = tuple[int, int]


def media_type_of(data: bytes) -> str | None:
    """Return the kind of an image, such as `image/png`; None for everything else."""
    if data.startswith(PNG_MARK):
        return PNG
    if data.startswith(b"\xff\xd8\xff"):
        return JPEG
    if data.startswith((b"GIF87a", b"GIF89a")):
        return GIF
    return WEBP if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None


def header_of(data: bytes) -> tuple[str, int, int]:
    """Return kind, width and height of an image.

    Raises:
        RefusedError: it is none, is cut off, or contradicts itself.
    """
    media_type = media_type_of(data)
    if media_type is None:
        raise RefusedError(UNKNOWN)
    parsers: dict[str, Callable[[bytes], Size]] = {PNG: _png, JPEG: _jpeg, WEBP: _webp, GIF: _gif}
    try:
        width, height = parsers[media_type](data)
    except (struct.error, IndexError, ValueError):
        raise RefusedError(DAMAGED) from None
    if not width or not height:
        raise RefusedError(DAMAGED)
    return media_type, width, height


def _require(condition: object) -> None:
    if not condition:
        raise ValueError


def _png(data: bytes) -> Size:
    """Read the first chunk and go from chunk to chunk up to the end, so that a file that is cut off is noticed."""
    length, kind, width, height = struct.unpack_from(">I4sII", data, 8)
    _require(kind == b"IHDR" and length == 13)  # noqa: PLR2004 -- the only length that it can have
    (checksum,) = struct.unpack_from(">I", data, 29)
    _require(checksum == zlib.crc32(data[12:29]))
    place = 8
    while kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", data, place)
        place += 12 + length
        _require(place <= len(data))
    return width, height


def _jpeg(data: bytes) -> Size:
    place, size = 2, None
    while True:
        _require(data[place] == 0xFF)  # noqa: PLR2004 -- how each marker begins
        while data[place] == 0xFF:  # noqa: PLR2004 -- markers may be padded
            place += 1
        marker = data[place]
        place += 1
        if marker in LONELY_MARKERS:
            continue
        _require(marker != END_OF_IMAGE)
        (length,) = struct.unpack_from(">H", data, place)
        _require(length >= 2 and place + length <= len(data))  # noqa: PLR2004 -- it counts itself
        if marker == START_OF_SCAN:
            break
        if marker in FRAME_MARKERS:
            height, width = struct.unpack_from(">HH", data, place + 3)
            _require(size is None or size == (width, height))
            size = (width, height)
        place += length
    _require(size and data.rfind(b"\xff\xd9") > place)
    return size or (0, 0)


def _webp(data: bytes) -> Size:
    (total,) = struct.unpack_from("<I", data, 4)
    _require(total + 8 <= len(data))
    canvas: Size | None = None
    place, end = 12, total + 8
    while place + 8 <= end:
        kind, length = struct.unpack_from("<4sI", data, place)
        _require(place + 8 + length <= end)
        size = _webp_size(kind, data[place + 8 : place + 8 + min(length, 64)])
        if kind == b"VP8X":
            canvas = size
        elif size:
            _require(canvas is None or canvas == size)
            return size
        elif kind == b"ANMF":
            return canvas or (0, 0)
        place += 8 + length + length % 2
    raise ValueError


def _webp_size(kind: bytes, chunk: bytes) -> Size | None:
    if kind == b"VP8X":
        return int.from_bytes(chunk[4:7], "little") + 1, int.from_bytes(chunk[7:10], "little") + 1
    if kind == b"VP8L":
        _require(chunk[0] == 0x2F)  # noqa: PLR2004 -- the signature
        (bits,) = struct.unpack_from("<I", chunk, 1)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        _require(chunk[3:6] == b"\x9d\x01\x2a")
        width, height = struct.unpack_from("<HH", chunk, 6)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _gif(data: bytes) -> Size:
    """Read the screen and the first frame on it, which may be larger than the screen that was promised."""
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    place = 13 + _table_bytes(flags)
    while data[place] == 0x21:  # noqa: PLR2004 -- an extension
        place = _after_blocks(data, place + 2)
    _require(data[place] == 0x2C)  # noqa: PLR2004 -- a frame
    left, top, frame_width, frame_height, flags = struct.unpack_from("<HHHHB", data, place + 1)
    _require(frame_width and frame_height and left + frame_width <= width and top + frame_height <= height)
    _after_blocks(data, place + 11 + _table_bytes(flags))
    return width, height


def _table_bytes(flags: int) -> int:
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _after_blocks(data: bytes, place: int) -> int:
    while length := data[place]:
        place += 1 + length
    return place + 1
