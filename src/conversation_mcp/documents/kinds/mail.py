"""Mails as outlines: sender, recipients and date, text, forwarded mails, and the names of attachments."""

from collections.abc import Iterator
from contextlib import suppress
from email import message_from_binary_file
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.policy import EmailPolicy
from typing import IO, cast

from conversation_mcp.documents.charsets import UnknownEncodingError, decoded
from conversation_mcp.documents.kinds.conversion import ConversionError, TooMuchError, bounded
from conversation_mcp.documents.kinds.html_text import as_paragraphs, html
from conversation_mcp.documents.kinds.outline import BLANK, NEWLINE, TEXT, Heading, Mark, Outline
from conversation_mcp.text import one_line, shorten

SHOWN_HEADERS = ("From", "To", "Cc", "Date")
MAX_HEADER_CHARS, SHOWN_HEADER_CHARS = 2_000, 500
MAX_PARSED_CHARS = 100_000
MAX_DEPTH = 5
MAX_LEVEL = 6

Line = tuple[str, Mark]


def mail(file: IO[bytes]) -> Outline:
    """Return a mail under its subject.

    Raises:
        ConversionError: it is not a mail.
        TooMuchError: it has more headers than any mail needs.
        UnknownEncodingError: its text is not in an encoding that it names.
    """
    message = cast("EmailMessage", message_from_binary_file(file, policy=_policy()))
    if not message.keys():
        raise ConversionError
    found = list(_message(message, 1))
    return as_paragraphs(Outline(bounded([line for line, _ in found]), [mark for _, mark in found]))


def _policy() -> EmailPolicy:
    """Return a policy that parses each header once, and only a limited number: parameters take quadratic time."""
    parsed: dict[tuple[str, str], str] = {}
    left = MAX_PARSED_CHARS

    class Bounded(EmailPolicy):
        def header_fetch_parse(self, name: str, value: str) -> str:
            nonlocal left
            key = name.lower(), value[:MAX_HEADER_CHARS]
            if key not in parsed:
                left -= len(key[1])
                if left < 0:
                    raise TooMuchError
                try:
                    parsed[key] = super().header_fetch_parse(*key)
                except Exception:  # noqa: BLE001 -- some that are odd enough are beyond the parser
                    parsed[key] = super().header_fetch_parse(name, "")
            return parsed[key]

    return Bounded()


def _message(message: EmailMessage, level: int) -> Iterator[Line]:
    subject = _header(message, "Subject")
    yield subject, Heading(min(level, MAX_LEVEL), subject)
    for name in SHOWN_HEADERS:
        if value := _header(message, name):
            yield f"{name}: {value}", TEXT
    yield "", BLANK
    body, text = _body(message)
    yield from text
    yield "", BLANK
    yield from _others(message, body, level)


def _body(message: EmailMessage) -> tuple[EmailMessage, list[Line]]:
    """Return the part that mail programs show, plain text rather than HTML, and its text."""
    for kind in ("plain", "html"):
        body = cast("EmailMessage | None", message.get_body((kind,)))
        text = list(_text(body)) if body is not None else []
        if body is not None and any(line.strip() for line, _ in text):
            return body, text
    is_bare = not message.is_multipart() and message.get_content_maintype() in {"text", "multipart"}
    return message, list(_text(message)) if is_bare else []


def _others(part: EmailMessage, body: object, level: int) -> Iterator[Line]:
    """Yield forwarded mails, attached texts, and the names of other attachments."""
    if part.get_content_type() == "multipart/alternative" or level > MAX_DEPTH:
        return
    for child in cast("Iterator[EmailMessage]", part.iter_parts()) if part.is_multipart() else ():
        if child is body:
            continue
        if child.get_content_type() == "message/rfc822":
            yield from (
                line for inner in child.iter_parts() for line in _message(cast("EmailMessage", inner), level + 1)
            )
        elif child.is_multipart():
            yield from _others(child, body, level + 1)
        else:
            if name := child.get_filename():
                yield f"Attached: {one_line(name)}", TEXT
            if child.get_content_maintype() == "text":
                with suppress(UnknownEncodingError):
                    yield from _text(child)
            yield "", BLANK


def _text(part: EmailMessage) -> Iterator[Line]:
    text = _decoded(part)
    if part.get_content_subtype() == "html":
        outline = html(text)
        yield from zip(outline.lines, outline.marks, strict=True)
    else:
        yield from ((line, TEXT if line.strip() else BLANK) for line in NEWLINE.split(text))


def _decoded(part: EmailMessage) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    charset = part.get_content_charset()
    try:
        return data.decode(charset or "utf-8")
    except (LookupError, UnicodeDecodeError):
        return decoded(data, f".{part.get_content_subtype()}") or ""


def _header(message: EmailMessage, name: str) -> str:
    """Return a header without parsing its addresses, which takes minutes for thousands of them."""
    raw = next((str(value) for key, value in message.raw_items() if key.lower() == name.lower()), "")
    raw = raw[:MAX_HEADER_CHARS].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    try:
        return shorten(str(make_header(decode_header(raw))), SHOWN_HEADER_CHARS)
    except (HeaderParseError, LookupError, ValueError):
        return shorten(raw, SHOWN_HEADER_CHARS)
