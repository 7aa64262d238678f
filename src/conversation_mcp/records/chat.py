"""The messages of a conversation as providers receive them."""

from typing import Literal, NamedTuple


class ImagePart(NamedTuple):
    """An image as it is sent with a message."""

    media_type: str
    data: bytes


class PdfPart(NamedTuple):
    """A PDF as it is sent with a message."""

    data: bytes


class ChatMessage(NamedTuple):
    """A message as it is sent: its text, images and PDFs alone, without the facts of the record."""

    role: Literal["system", "user", "assistant"]
    content: str
    images: tuple[ImagePart, ...] = ()
    pdfs: tuple[PdfPart, ...] = ()
