"""The parts of a message with images, on each wire."""

from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from anyio import to_thread

from conversation_mcp.errors import BlindModelError
from conversation_mcp.providers.base import Request
from conversation_mcp.providers.definitions import Definition, Family
from conversation_mcp.providers.images import Detail
from conversation_mcp.records.chat import ChatMessage, ImagePart, PdfPart
from conversation_mcp.text import storable

T = TypeVar("T")
PDF = "application/pdf"
Part = dict[str, object]
Content = str | list[Part]


@dataclass(frozen=True)
class PartForm:
    """The form of a family's parts; `detail` is sent with each image if it is set."""

    family: Family
    detail: Detail | None = None

    def content(self, messages: Iterable[ChatMessage]) -> Content:
        """Return the content of messages that are sent as one: images and PDFs right before the text of theirs.

        Without any it is the text alone, as it was before there were images.
        """
        parts: list[Part] = []
        texts: list[str] = []
        for message in messages:
            if (message.images or message.pdfs) and texts:
                # Some servers refuse a part without text.
                parts += [self._text(texts)] if any(texts) else []
                texts = []
            parts += map(self._pdf, message.pdfs)
            parts += map(self._image, message.images)
            texts.append(storable(message.content))
        if not parts:
            return "\n\n".join(texts)
        return [*parts, self._text(texts)] if any(texts) else parts

    def _text(self, texts: Iterable[str]) -> Part:
        kind = "input_text" if self.family == "responses" else "text"
        return {"type": kind, "text": "\n\n".join(texts)}

    def _pdf(self, pdf: PdfPart) -> Part:
        data = b64encode(pdf.data).decode("ascii")
        if self.family == "interactions":
            return {"type": "document", "data": data, "mime_type": PDF}
        return {"type": "document", "source": {"type": "base64", "media_type": PDF, "data": data}}

    def _image(self, image: ImagePart) -> Part:
        data = b64encode(image.data).decode("ascii")
        if self.family == "interactions":
            return {"type": "image", "data": data, "mime_type": image.media_type}
        if self.family == "messages":
            return {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": data}}
        url = f"data:{image.media_type};base64,{data}"
        detail = {"detail": self.detail} if self.detail else {}
        if self.family == "responses":
            return {"type": "input_image", "image_url": url, **detail}
        return {"type": "image_url", "image_url": {"url": url, **detail}}


def form_of(definition: Definition) -> PartForm:
    """Return the form of the parts at a provider."""
    return PartForm(definition.family, definition.images.detail)


async def drafted(draft: Callable[[Request], T], request: Request) -> T:
    """Return the draft of a request; one with images or PDFs is made in a thread, because encoding takes a while."""
    if any(message.images or message.pdfs for message in request.messages):
        return await to_thread.run_sync(draft, request)
    return draft(request)


def require_sight(messages: Iterable[ChatMessage], definition: Definition) -> None:
    """Refuse images for a provider whose API has no place for them.

    Raises:
        BlindModelError: there are images; nothing was sent.
    """
    if not definition.images.accepted and any(message.images for message in messages):
        raise BlindModelError(definition.title)
