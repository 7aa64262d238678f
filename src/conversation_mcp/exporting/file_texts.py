"""The texts of files at the questions that name them, each once in an export."""

import re
from collections.abc import Iterator

from conversation_mcp.conversations.sections import Section
from conversation_mcp.exporting.base import Contents
from conversation_mcp.records.attached import AttachedFile

BACKTICKS = re.compile("`{3,}")


class FileTexts:
    """The texts of an export that are still to be shown."""

    def __init__(self, contents: Contents) -> None:
        self._left = dict(contents)

    def of(self, section: Section) -> Iterator[tuple[AttachedFile, str]]:
        """Yield the files of a section whose contents are text that was not shown before, with it."""
        for named in section.attached:
            if isinstance(named, AttachedFile):
                data = self._left.pop(named.text or named.sha256 or "", None)
                text = None if data is None else _text(data)
                if text is not None:
                    yield named, text


def fenced(text: str) -> str:
    """Return the text as a code block of Markdown that nothing in it can end."""
    fence = max(("`" * 3, *(f"{found}`" for found in BACKTICKS.findall(text))), key=len)
    return f"{fence}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
