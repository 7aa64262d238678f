"""From the bytes of a file to the text that is sent."""

import re

from conversation_mcp.attaching.contents import FileContent
from conversation_mcp.attaching.headers import media_type_of
from conversation_mcp.attaching.limits import ReadLimits, RefusedError
from conversation_mcp.documents.charsets import UnknownEncodingError, decoded
from conversation_mcp.documents.formats import CONVERTED, Formats
from conversation_mcp.documents.kinds.conversion import NoTextError
from conversation_mcp.documents.reader import converted, reason_of
from conversation_mcp.documents.skips import Reason, suffix
from conversation_mcp.documents.western import is_mostly_western
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.text import counted, storable

CONTROL = re.compile("[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")
"""What is neither a sign nor a space, nor begins the colours of a terminal."""
MAX_CONTROL_SHARE = 0.01
C1 = re.compile("[\x80-\x9f]")
LINE_ENDS = re.compile("\r\n?")
LOST = "\ufffd"
SCAN = "A PDF of {pages} without text, such as a scan (SHA-256 {sha256}). Only a model that takes PDFs can read it."
"""Names the bytes, so that no two scans are taken for the same content."""
AN_IMAGE = "an image; name it as an image"


def text_of(path: str, data: bytes, formats: Formats, limits: ReadLimits) -> FileContent:
    """Return a file with its text: in Unicode, with a line feed at the end of each line.

    A text that is not simply the bytes read as UTF-8 counts as converted, so that both are kept.

    Raises:
        RefusedError: it has no text that can be sent.
    """
    if media_type_of(data):
        raise RefusedError(AN_IMAGE)
    form, pages, is_scan = formats.named(path), None, False
    if isinstance(form, Reason):
        raise RefusedError(form)
    if form in CONVERTED:
        try:
            outline = converted(data, form)
            text = "\n".join(outline.lines)
            pages = outline.numbers[-1] if form == "pdf" and outline.numbers else None
        except NoTextError as error:
            pages, is_scan = error.pages, True
            text = SCAN.format(pages=counted(pages, "page"), sha256=hash_of(data))
        except Exception as error:  # noqa: BLE001 -- converters raise whatever they like over files that others made
            raise RefusedError(reason_of(error)) from None
    else:
        text = decoded_text(data, suffix(path).lower())
    text = storable(LINE_ENDS.sub("\n", text))
    if len(text) > limits.file_bytes:
        raise RefusedError(limits.too_large(is_document=False))
    return FileContent(path, data, text, pages=pages, is_converted=text.encode() != data, is_scan=is_scan)


def decoded_text(data: bytes, ending: str) -> str:
    """Return the text of bytes, as it is in the file; `ending` is that of its name.

    Raises:
        RefusedError: it is none, or in an unknown encoding.
    """
    try:
        text = decoded(data, ending)
    except UnknownEncodingError:
        text = _latin(data)
        if text is None:
            raise RefusedError(Reason.UNKNOWN_ENCODING) from None
    if text is None:
        raise RefusedError(Reason.BINARY)
    if LOST in text and LOST.encode() not in data:  # a few strange bytes in a text that is otherwise ASCII
        text = _latin(data) or text
    if CONTROL.search(text) and ("\0" in text or len(CONTROL.findall(text)) > MAX_CONTROL_SHARE * len(text)):
        raise RefusedError(Reason.BINARY)
    return text


def _latin(data: bytes) -> str | None:
    """Return text in Latin-1, if words with special letters are mostly made of plain ones."""
    text = data.decode("latin-1")
    return text if not C1.search(text) and is_mostly_western(text) else None
