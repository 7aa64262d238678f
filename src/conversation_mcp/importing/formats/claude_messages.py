"""The messages along one path of a conversation with Claude, with documents written by tools and their sources."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from conversation_mcp.importing.base import LeftOut, ReadOptions
from conversation_mcp.importing.citations import Numbers, Pages
from conversation_mcp.importing.documents import WrittenDocuments
from conversation_mcp.importing.messages import (
    Data,
    count_named,
    count_tool,
    fenced,
    joined,
    list_of,
    message,
    missing,
    name_of,
    object_of,
    only_tools,
    text_of,
)
from conversation_mcp.records.models import Message, Role

ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}
SPOKEN = frozenset({"text", "voice_note"})
DOCUMENT_TEXTS, DOCUMENT_NAMES = ("content", "file_text"), ("title", "path", "file_name", "filename")
"""Fields with the text of a document in the call of a tool, and fields with its name."""
NOT_SHOWN = re.compile(r"```\s*This block is not supported on your current device yet\.\s*```")
"""The placeholder in `text` for blocks of other kinds."""
PLACE_FIELDS = ("type", "uuid", "id", "start_timestamp", "stop_timestamp")


@dataclass
class _Made:
    """The contents of one message, collected from its blocks."""

    text: str = ""
    reasoning: list[str] = field(default_factory=list[str])
    called: dict[str, None] = field(default_factory=dict[str, None])
    numbers: Numbers = field(default_factory=Numbers)
    found: Pages = field(default_factory=Pages)
    """The pages that tools found for it."""


class ClaudePath:
    """Makes messages of those of a path, in order."""

    def __init__(self, entry: Data, reading: ReadOptions, left_out: Counter[LeftOut]) -> None:
        self._model = name_of(entry.get("model"))
        self._reading = reading
        self._left_out = left_out
        self._documents = WrittenDocuments()
        self._titles: dict[str, str] = {}

    def messages(self, path: Iterable[Data]) -> list[Message]:
        """Return the messages."""
        return [made for said in path for made in self._message(said)]

    def _message(self, said: Data) -> Iterator[Message]:
        role = ROLES.get(name_of(said.get("sender")) or "")
        made = self._made(_blocks(said.get("content")))
        attachments = [object_of(each) for each in list_of(said.get("attachments"))]
        pasted = [each for each in attachments if text_of(each.get("extracted_content")).strip()]
        files = [*(each for each in attachments if each not in pasted), *map(object_of, list_of(said.get("files")))]
        names = [name_of(each.get("file_name")) or "a file without a name" for each in files]
        notices = missing(names, self._left_out)
        quoted = [
            fenced(name_of(each.get("file_name")) or "Pasted text", text_of(each["extracted_content"]))
            for each in pasted
        ]
        # The field repeats what the blocks say, so it serves only if these say nothing.
        text = made.text if made.text.strip() else NOT_SHOWN.sub("", text_of(said.get("text")))
        content = joined((text, *quoted, self._documents.shown())) or "\n".join(f"({notice})" for notice in notices)
        at = self._reading.moment(said.get("created_at"))
        if role is None:
            count_named(said.get("sender") or said.get("type"), {**said, "text": content}, self._left_out, PLACE_FIELDS)
        elif content:
            made.numbers.marks(made.found)  # a page that was found but not cited is a source too
            facts = {
                "model": (name_of(said.get("model")) or self._model) if role == "assistant" else None,
                "reasoning": joined(made.reasoning),
                "sources": tuple(made.numbers.sources.values()),
                "notices": notices,
            }
            yield message(role, content, at, **facts)
        elif made.called and role == "assistant":
            yield only_tools(made.called, at)

    def _made(self, blocks: Sequence[Data]) -> _Made:
        made = _Made()
        for block in blocks:
            if name_of(block.get("type")) == "tool_result":
                made.found += self._pages(block)
        before: Data = {}
        for block in blocks:
            kind = name_of(block.get("type"))
            if kind in SPOKEN:
                # Citations cut a paragraph into several blocks.
                is_cut = before.get("type") == kind and (_citations(before) or _citations(block))
                text = self._cited(block, made.numbers)
                made.text = made.text + text if is_cut else joined((made.text, text))
            elif kind == "thinking":
                made.reasoning.append(text_of(block.get("thinking")))
            elif kind in {"tool_use", "tool_result"}:
                name = name_of(block.get("name")) or "without a name"
                if kind == "tool_result" or not self._write(name, object_of(block.get("input"))):
                    count_tool(name, self._left_out)
                    made.called[name] = None
            else:
                count_named(kind, block, self._left_out, PLACE_FIELDS)
            before = block
        return made

    def _write(self, tool: str, given: Data) -> bool:
        """Apply a call to a document; return False if it is a call of another kind."""
        key = next((name for field in ("id", *DOCUMENT_NAMES) if (name := name_of(given.get(field)))), tool)
        named = next((name for field in DOCUMENT_NAMES if (name := name_of(given.get(field)))), None)
        name = PurePosixPath(named).name if named and "title" not in given else named
        text = next((text for field in DOCUMENT_TEXTS if (text := text_of(given.get(field))).strip()), "")
        if text and (named or tool == "artifacts"):
            self._documents.write(key, text, name)
        elif tool == "artifacts" or (key in self._documents and "old_str" in given):
            self._documents.change(key, text_of(given.get("old_str")), text_of(given.get("new_str")), name)
        else:
            return False
        return True

    def _pages(self, result: Data) -> Pages:
        """Return the pages that a tool found, and remember their titles."""
        pages: Pages = []
        for page in map(object_of, list_of(result.get("content"))):
            if url := name_of(page.get("url")):
                title = name_of(page.get("title"))
                pages.append((url, title))
                if title:
                    self._titles.setdefault(url, title)
        return pages

    def _cited(self, block: Data, numbers: Numbers) -> str:
        """Return the text of a block, with the numbers of sources after the passages that they support."""
        text = text_of(block.get("text"))
        pages: dict[int, Pages] = {}
        for citation in sorted(_citations(block), key=lambda each: _end(each, len(text))):
            details = object_of(citation.get("details"))
            url = name_of(details.get("url")) or name_of(citation.get("url"))
            if url is None:
                self._left_out["citation marks"] += 1
                continue
            title = name_of(details.get("title")) or name_of(citation.get("title")) or self._titles.get(url)
            pages.setdefault(_end(citation, len(text)), []).append((url, title))
        pieces: list[str] = []
        place = 0
        for end, cited in pages.items():
            pieces += (text[place:end], numbers.marks(cited))
            place = end
        return "".join((*pieces, text[place:]))


def _blocks(content: object) -> list[Data]:
    """Return the blocks of a content; a plain text is one block."""
    parts = [content] if isinstance(content, str) else list_of(content)
    return [{"type": "text", "text": part} if isinstance(part, str) else object_of(part) for part in parts]


def _citations(block: Data) -> list[Data]:
    return [object_of(each) for each in list_of(block.get("citations"))]


def _end(citation: Data, length: int) -> int:
    """Return where the cited passage ends; the end of the text if the citation does not say."""
    end: Any = citation.get("end_index")
    return end if isinstance(end, int) and 0 < end <= length else length
