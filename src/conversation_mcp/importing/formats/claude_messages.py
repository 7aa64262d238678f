"""The messages along one path of a conversation with Claude, with documents written by tools and their sources."""

import json
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
FILES, NAMELESS = ("files", "files_v2", "sync_sources"), "a file without a name"
NO_WORDS = "nothing was said here, only thought"
NOT_SHOWN = re.compile(r"```\s*This block is not supported on your current device yet\.\s*```")
"""The placeholder in `text` for blocks of other kinds."""
TAGGED = re.compile(r"^<ant(Artifact|Thinking)\b([^<>]*)>(.*?)(?:</ant\1>|\Z)", re.DOTALL | re.MULTILINE)
"""Documents and reasoning in the text itself, as older answers have them."""
ATTRIBUTE = re.compile(r'([a-z]+)="([^"]*)"')
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
        self._failed: set[str] = set()

    def messages(self, path: Iterable[Data]) -> list[Message]:
        """Return the messages."""
        return [made for said in path for made in self._message(said)]

    def _message(self, said: Data) -> Iterator[Message]:
        role = ROLES.get(name_of(said.get("sender")) or "")
        made = self._made(_blocks(said.get("content")))
        # The field repeats what the blocks say, so it serves only if these say nothing.
        text = made.text if made.text.strip() else NOT_SHOWN.sub("", text_of(said.get("text")))
        text = self._untagged(text, made) if role == "assistant" else text
        attachments = [object_of(each) for each in list_of(said.get("attachments"))]
        pasted = [each for each in attachments if text_of(each.get("extracted_content")).strip()]
        files = [each for each in attachments if each not in pasted]
        files += [object_of(each) for field in FILES for each in list_of(said.get(field))]
        # The same file may be in several of these lists.
        names = dict.fromkeys(name_of(each.get("file_name") or each.get("name")) or NAMELESS for each in files)
        notices = missing(tuple(names), self._left_out)
        quoted = [
            fenced(name_of(each.get("file_name")) or "Pasted text", text_of(each["extracted_content"]))
            for each in pasted
        ]
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
        elif role == "assistant" and joined(made.reasoning):
            yield message(role, f"({NO_WORDS})", at, reasoning=joined(made.reasoning), notices=(NO_WORDS,))

    def _made(self, blocks: Sequence[Data]) -> _Made:
        made = _Made()
        for block in blocks:
            if name_of(block.get("type")) == "tool_result":
                made.found += self._pages(block)
                if block.get("is_error") is True and (call := name_of(block.get("tool_use_id"))):
                    self._failed.add(call)
        before: Data = {}
        for block in blocks:
            kind = name_of(block.get("type"))
            if kind in SPOKEN:
                # Citations cut a paragraph into several blocks.
                is_cut = before.get("type") == kind and (_citations(before) or _citations(block))
                text = self._cited(block, made.numbers)
                made.text = made.text + text if is_cut else joined((made.text, text))
            elif kind == "thinking":
                summaries = (text_of(object_of(each).get("summary")) for each in list_of(block.get("summaries")))
                made.reasoning.append(text_of(block.get("thinking")) or joined(summaries))
            elif kind in {"tool_use", "tool_result"}:
                name = name_of(block.get("name")) or "without a name"
                if kind == "tool_result" or not self._write(name, block):
                    count_tool(name, self._left_out)
                    made.called[name] = None
            else:
                count_named(kind, block, self._left_out, PLACE_FIELDS)
            before = block
        return made

    def _untagged(self, text: str, made: _Made) -> str:
        """Return a text without the documents and the reasoning that stand in it in tags."""

        def taken(found: re.Match[str]) -> str:
            if text.count("```", 0, found.start()) % 2:
                return found[0]  # an example in code
            told = dict(ATTRIBUTE.findall(found[2]))
            if found[1] == "Thinking":
                made.reasoning.append(found[3].strip())
                return ""
            name = told.get("title") or told.get("identifier") or "Artifact"
            self._documents.write(told.get("identifier") or name, found[3].strip("\n"), name)
            return self._documents.shown()

        return TAGGED.sub(taken, text).strip() if "<ant" in text else text

    def _write(self, tool: str, block: Data) -> bool:
        """Apply a call to a document; return False if it is a call of another kind, or failed."""
        given = _input(block)
        if name_of(block.get("id")) in self._failed:
            return False
        key = next((name for field in ("id", *DOCUMENT_NAMES) if (name := name_of(given.get(field)))), tool)
        named = next((name for field in DOCUMENT_NAMES if (name := name_of(given.get(field)))), None)
        name = PurePosixPath(named).name if named and "title" not in given else named
        text = next((text for field in DOCUMENT_TEXTS if (text := text_of(given.get(field))).strip()), "")
        if text and (named or tool == "artifacts"):
            self._documents.write(key, text, name)
        elif key in self._documents and isinstance(line := given.get("insert_line"), int):
            self._documents.insert(key, line, text_of(given.get("new_str")) or text_of(given.get("insert_text")))
        elif "old_str" in given and (tool == "artifacts" or key in self._documents):
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
            found = [*self._pages_of(citation)]
            self._left_out["citation marks"] += not found
            if found:
                pages.setdefault(_end(citation, len(text)), []).extend(found)
        pieces: list[str] = []
        place = 0
        for end, cited in pages.items():
            pieces += (text[place:end], numbers.marks(cited))
            place = end
        return "".join((*pieces, text[place:]))

    def _pages_of(self, citation: Data) -> Iterator[tuple[str, str | None]]:
        """Yield the pages of a citation: its own, else those in its list."""
        details = object_of(citation.get("details"))
        if url := name_of(details.get("url")) or name_of(citation.get("url")):
            title = name_of(details.get("title")) or name_of(citation.get("title")) or self._titles.get(url)
            yield url, title
        else:
            for each in (*list_of(details.get("sources")), *list_of(citation.get("sources"))):
                yield from self._pages_of({"url": object_of(each).get("url"), "title": object_of(each).get("title")})


def _input(block: Data) -> Data:
    """Return the arguments of a call, which may be JSON text, or what arrived of it."""
    for given in (block.get("input"), block.get("partial_json")):
        try:
            told = json.loads(given) if isinstance(given, str) else given
        except (ValueError, RecursionError):
            continue
        if object_of(told):
            return object_of(told)
    return {}


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
