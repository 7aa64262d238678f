"""What is said along one path of ChatGPT's tree, and what of it stands in the calls and results of tools."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from conversation_mcp.importing.base import LeftOut, Reading
from conversation_mcp.importing.citations import cited
from conversation_mcp.importing.documents import Documents
from conversation_mcp.importing.messages import (
    Data,
    count_named,
    count_tool,
    holds_words,
    joined,
    list_of,
    message,
    missing,
    name_of,
    object_of,
    only_tools,
    text_of,
)
from conversation_mcp.models import Message

HIDDEN_TYPES = frozenset({"user_editable_context", "model_editable_context", "reasoning_recap", "system_error"})
SHOWN_TO = frozenset({None, "all"})
SPOKEN = frozenset({"user", "assistant"})
CANVAS, CANVAS_NAME = "canmore.", "Canvas"
REWRITES_ALL = frozenset({".*", "^.*$", r"[\s\S]*", "(?s).*"})
"""What a call names as the passage to replace when it replaces the whole canvas."""
TYPE_FIELDS = ("content_type", "type", "language")


class Path:
    """Takes the nodes of a path in their order, and has the messages."""

    def __init__(self, entry: Data, reading: Reading, left_out: Counter[LeftOut]) -> None:
        self._model = name_of(entry.get("default_model_slug"))
        self._reading = reading
        self._left_out = left_out
        self._messages: list[Message] = []
        self._thoughts: list[str] = []
        self._pages: Sequence[Any] = ()
        self._documents = Documents()
        self._files: list[str] = []
        self._called: dict[str, None] = {}
        self._at: datetime | None = None

    def messages(self, nodes: Iterable[object]) -> list[Message]:
        """Return what is said in the nodes."""
        for node in nodes:
            self._take(object_of(object_of(node).get("message")))
        self._show_made()
        self._drop_thoughts()
        return self._messages

    def _take(self, said: Data) -> None:
        role = name_of(object_of(said.get("author")).get("role"))
        content = object_of(said.get("content"))
        if not said:
            return
        if name_of(content.get("content_type")) == "thoughts":
            self._thoughts += _thoughts(content)
        elif role == "tool" or (role == "assistant" and name_of(said.get("recipient")) not in SHOWN_TO):
            self._take_tool(said)
        elif role not in SPOKEN or _is_hidden(said, content):
            self._hide(role, content)
        elif role == "user":
            self._end_turn()
            self._messages += self._question(said)
        else:
            self._answer(said)

    def _take_tool(self, said: Data) -> None:
        """Take what an answer is of a call or a result, and count the rest."""
        metadata, content = object_of(said.get("metadata")), object_of(said.get("content"))
        author = object_of(said.get("author"))
        is_call = name_of(author.get("role")) == "assistant"
        name = (name_of(said.get("recipient")) if is_call else name_of(author.get("name"))) or "without a name"
        self._at = self._reading.moment(said.get("create_time"))
        self._pages = list_of(object_of(metadata.get("_cite_metadata")).get("metadata_list")) or self._pages
        if report := _report(metadata):
            self._answer({**report, "create_time": report.get("create_time") or said.get("create_time")})
        elif is_call and name.startswith(CANVAS) and _write_canvas(self._documents, content):
            return
        elif pictures := [] if is_call or _is_hidden(said, content) else list(_pointers(content)):
            self._files += pictures
        elif holds_words(_spoken(content), TYPE_FIELDS) or holds_words(metadata.get("chatgpt_sdk")):
            count_tool(name, self._left_out)
            self._called[name] = None

    def _hide(self, role: str | None, content: Data) -> None:
        kind, words = name_of(content.get("content_type")), _spoken(content)
        if kind in HIDDEN_TYPES:
            count_named(kind, words, self._left_out, TYPE_FIELDS)
        elif role in {*SPOKEN, "system"}:
            self._left_out["hidden messages"] += holds_words(words, TYPE_FIELDS)
        else:
            count_named(role, words, self._left_out, TYPE_FIELDS)

    def _question(self, said: Data) -> Iterator[Message]:
        text, notices = self._content(said)
        if text:
            yield message("user", text, self._reading.moment(said.get("create_time")), notices=notices)

    def _answer(self, said: Data) -> None:
        """Add an answer, with the documents and pictures that were made for it."""
        metadata = object_of(said.get("metadata"))
        text, notices = self._content(said)
        if not text:
            return
        content = joined((self._documents.shown(), text))
        content, sources = cited(content, metadata, self._pages, self._left_out)
        if not content:
            return
        notices = (*missing(self._files, self._left_out), *notices)
        facts = {
            "model": name_of(metadata.get("model_slug")) or self._model,
            "reasoning": joined(self._thoughts),
            "sources": sources,
            "notices": notices,
        }
        self._messages.append(message("assistant", content, self._reading.moment(said.get("create_time")), **facts))
        self._files.clear()
        self._called.clear()
        self._thoughts.clear()

    def _show_made(self) -> None:
        """Add documents and pictures that no answer came for: they are it."""
        made, _ = cited(self._documents.shown(), {}, (), self._left_out)
        notices = missing(self._files, self._left_out)
        if content := made or "\n".join(f"({notice})" for notice in notices):
            facts = {"model": self._model, "reasoning": joined(self._thoughts), "notices": notices}
            self._messages.append(message("assistant", content, self._at, **facts))
            self._files.clear()
            self._called.clear()
            self._thoughts.clear()

    def _end_turn(self) -> None:
        self._show_made()
        if self._called and self._messages and self._messages[-1].role == "user":
            self._messages.append(only_tools(self._called, self._at))
        self._called.clear()
        self._drop_thoughts()

    def _drop_thoughts(self) -> None:
        """Count reasoning that no answer came of."""
        count_named("thoughts", self._thoughts, self._left_out)
        self._thoughts.clear()

    def _content(self, said: Data) -> tuple[str, tuple[str, ...]]:
        """Return the text, and the notices of what is not in it; if there is no text, they stand for it."""
        content, metadata = object_of(said.get("content")), object_of(said.get("metadata"))
        text, kind = joined(_texts(content)), name_of(content.get("content_type"))
        files = [name_of(object_of(file).get("name")) for file in list_of(metadata.get("attachments"))]
        names = [name for name in files if name] or list(_pointers(content))
        notices = missing(names, self._left_out)
        if not text and not notices and holds_words(content, TYPE_FIELDS):
            count_named(kind, content, self._left_out, TYPE_FIELDS)
            notices = (f"not imported: {kind or 'content without a type'}",)
            return f"({notices[0]})", notices
        for part in list_of(content.get("parts")):
            if not list(_pointers({"parts": [part]})) and not any(_texts({"parts": [part]})):
                count_named(object_of(part).get("content_type"), part, self._left_out, TYPE_FIELDS)
        return text or "\n".join(f"({notice})" for notice in notices), notices


def _write_canvas(documents: Documents, content: Data) -> bool:
    """Write down what a call puts into a canvas; what cannot be read as a call is the document itself."""
    call = text_of(content.get("text")) or joined(_texts(content))
    try:
        given = object_of(json.loads(call))
    except (ValueError, RecursionError):
        given = {"content": call}
    if text := text_of(given.get("content")):
        documents.begin(name_of(given.get("name")) or CANVAS_NAME, text)
        return True
    updates = [object_of(update) for update in list_of(given.get("updates"))]
    for update in updates:
        pattern, new = text_of(update.get("pattern")), text_of(update.get("replacement"))
        if pattern in REWRITES_ALL and documents.last:
            documents.write(documents.last, new)
        else:
            documents.change(documents.last, pattern, new, CANVAS_NAME)
    return bool(updates)


def _report(metadata: Data) -> Data:
    """Return the message that a research left in the state of its widget; an empty one where there is none."""
    state = object_of(metadata.get("chatgpt_sdk")).get("widget_state")
    if isinstance(state, str):
        try:
            state = json.loads(state)
        except (ValueError, RecursionError):
            return {}
    told = object_of(state).get("report_message")
    report = {"content": {"text": told}} if isinstance(told, str) else object_of(told)
    return report if any(_texts(object_of(report.get("content")))) else {}


def _texts(content: Data) -> Iterator[str]:
    if content.get("content_type") == "code":
        language = name_of(content.get("language")) or ""
        code = text_of(content.get("text"))
        yield f"```{'' if language == 'unknown' else language}\n{code}\n```" if code.strip() else ""
        return
    for part in list_of(content.get("parts")):
        yield text_of(part) or text_of(object_of(part).get("text"))
    if not list_of(content.get("parts")):
        yield text_of(content.get("text"))


def _thoughts(content: Data) -> Iterator[str]:
    for thought in map(object_of, list_of(content.get("thoughts"))):
        yield text_of(thought.get("content")) or text_of(thought.get("summary"))


def _spoken(content: Data) -> Data:
    """Return the content with its text where a single word counts as words."""
    return {**content, "text": joined(_texts(content))}


def _pointers(content: Data) -> Iterator[str]:
    """Yield the names of pictures and recordings, which a part has itself or keeps together."""
    for part in map(object_of, list_of(content.get("parts"))):
        for each in (part, *map(object_of, part.values())):
            if name := name_of(each.get("asset_pointer")):
                yield name


def _is_hidden(said: Data, content: Data) -> bool:
    return (
        object_of(said.get("metadata")).get("is_visually_hidden_from_conversation") is True
        or said.get("weight") == 0
        or name_of(content.get("content_type")) in HIDDEN_TYPES
    )
