"""Reading of files: their passages, or the reason why there are none."""

import os
import stat
from collections.abc import Callable, Mapping
from hashlib import blake2b
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import IO

from conversation_mcp.documents.charsets import UnknownEncodingError, decoded
from conversation_mcp.documents.formats import Format, Formats
from conversation_mcp.documents.kinds.conversion import NoTextError, TooMuchError
from conversation_mcp.documents.kinds.outline import Outline
from conversation_mcp.documents.passages import Passage, cut
from conversation_mcp.documents.skips import Reason, suffix
from conversation_mcp.documents.walk import Document

HASH_BYTES = 16
CONVERTERS: Mapping[Format, tuple[str, str]] = {
    "pdf": ("pdf_text", "pdf"),
    "docx": ("word", "docx"),
    "xlsx": ("spreadsheet", "xlsx"),
    "rtf": ("rich_text", "rtf"),
    "pptx": ("slides", "pptx"),
    "odf": ("open_document", "open_document"),
    "epub": ("book", "epub"),
    "mail": ("mail", "mail"),
}
"""The modules and functions that read files other than text. Their libraries are imported with the first such file."""
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""The walk has resolved links already, so one that is here now has been put there since; pipes must not block."""


class Content:
    """The bytes of a file, from which its passages are made only if the digest is new."""

    def __init__(self, data: bytes, document: Document, formats: Formats) -> None:
        self._data = data
        self._document = document
        self._formats = formats
        self.digest = blake2b(data, digest_size=HASH_BYTES).digest()

    def passages(self) -> list[Passage] | Reason:
        """Return the passages, none for an empty file, or the reason why it cannot be read."""
        path = Path(self._document.path)
        try:
            outline = self._outline(path.name)
        except Exception as error:  # noqa: BLE001 -- converters raise whatever they like over files that others made
            return reason_of(error)
        return cut(outline, path) if outline else Reason.BINARY

    def _outline(self, name: str) -> Outline | None:
        form = self._document.form
        if form in CONVERTERS:
            return converted(self._data, form)
        text = decoded(self._data, suffix(name).lower())
        return None if text is None else self._text_outline(form, text, name)

    def _text_outline(self, form: Format, text: str, name: str) -> Outline:
        from conversation_mcp.documents.kinds import (
            data,
            markdown,
            markup,
            source_code,
        )
        from conversation_mcp.documents.kinds.html_text import html

        if form == "code":
            return source_code.source_code(text, self._formats.language(name), name)
        plain: Mapping[str, Callable[[str], Outline]] = {
            "markdown": markdown.markdown, "rst": markup.rst, "asciidoc": markup.asciidoc, "html": html,
        }  # fmt: skip
        if form in plain:
            return plain[form](text)
        named: Mapping[str, Callable[[str, str], Outline]] = {
            "notebook": data.notebook, "table": data.table, "records": data.records, "plain": source_code.plain,
        }  # fmt: skip
        return named[form](text, name)


def read(document: Document, formats: Formats) -> Content | Reason | None:
    """Return the content of a file now; None if it is gone."""
    try:
        with open(document.path, "rb", opener=_open) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            limit = formats.max_bytes(document.form)
            data = file.read(limit + 1)  # the file may have grown since the walk looked at its size
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return Reason.UNREADABLE
    return Reason.TOO_LARGE if len(data) > limit else Content(data, document, formats)


def converted(data: bytes, form: Format) -> Outline:
    """Return the text of a file that is not text. Raises whatever its converter raises; `reason_of` explains that."""
    module, function = CONVERTERS[form]
    convert: Callable[[IO[bytes]], Outline] = getattr(
        import_module(f"conversation_mcp.documents.kinds.{module}"), function
    )
    return convert(BytesIO(data))


def reason_of(error: Exception) -> Reason:
    """Return why a file could not be read as text or converted."""
    reasons = {
        UnknownEncodingError: Reason.UNKNOWN_ENCODING,
        NoTextError: Reason.NO_TEXT,
        TooMuchError: Reason.TOO_LARGE,
    }
    return next((reason for kind, reason in reasons.items() if isinstance(error, kind)), Reason.UNCONVERTED)


def _open(path: str, flags: int) -> int:
    del flags
    return os.open(path, OPEN_FLAGS)
