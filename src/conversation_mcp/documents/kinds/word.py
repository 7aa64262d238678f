"""Word files as outlines, by way of HTML."""

from typing import IO, cast

from conversation_mcp.documents.kinds.archives import Archive
from conversation_mcp.documents.kinds.html_text import as_paragraphs, html
from conversation_mcp.documents.kinds.outline import Outline

PROPERTIES = "docProps/"


def docx(file: IO[bytes]) -> Outline:
    """Return the paragraphs under their headings, and rows of tables as lines."""
    import mammoth

    def without_images(_: object) -> list[object]:
        return []

    parts = Archive(file).copy(without=PROPERTIES)
    converted = cast("str", mammoth.convert_to_html(parts, convert_image=without_images).value)  # pyright: ignore[reportUnknownMemberType]
    return as_paragraphs(html(converted))
