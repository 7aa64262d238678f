"""The messages along one path of ChatGPT's tree, including answers in the calls and results of tools."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from conversation_mcp.importing.base import LeftOut, ReadOptions
from conversation_mcp.importing.citations import Pages
from conversation_mcp.importing.documents import WrittenDocuments
from conversation_mcp.importing.formats.chatgpt_assets import AssetNames, named
from conversation_mcp.importing.formats.chatgpt_canvas import CANVAS, write_canvas
from conversation_mcp.importing.formats.chatgpt_contents import (
    content_of,
    pointers_in,
    texts_in,
    thoughts_in,
    unknown_in,
)
from conversation_mcp.importing.formats.chatgpt_marks import cited, unmarked
from conversation_mcp.importing.formats.chatgpt_pages import pages_by_name
from conversation_mcp.importing.formats.chatgpt_reports import is_told_state, reports_in
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
)
from conversation_mcp.records.models import Message

# Among these is the profile of the user, which nobody said in the conversation.
FAILURE = "system_error"
HIDDEN_TYPES = frozenset({"user_editable_context", "model_editable_context", "reasoning_recap", FAILURE})
THINKING = "analysis"
"""The channel of reasoning."""
NOTHING: Data = {}
# An answer to anybody else is the call of a tool.
SHOWN_TO = frozenset({None, "all"})
SPOKEN = frozenset({"user", "assistant"})
TYPE_FIELDS = ("content_type", "type", "language")


class ChatGptPath:
    """Makes messages of the nodes of a path, in order."""

    def __init__(self, entry: Data, names: AssetNames, reading: ReadOptions, left_out: Counter[LeftOut]) -> None:
        self._model = name_of(entry.get("default_model_slug"))
        self._names = names
        self._reading = reading
        self._left_out = left_out
        self._messages: list[Message] = []
        self._thoughts: list[str] = []
        self._pages: Sequence[Any] = ()
        self._told: dict[str, Pages] = {}
        self._documents = WrittenDocuments()
        self._reports: dict[str, int] = {}
        self._files: list[str] = []
        self._called: dict[str, None] = {}
        self._at: datetime | None = None

    def messages(self, nodes: Iterable[object]) -> list[Message]:
        """Return the messages of the nodes."""
        said = [object_of(object_of(node).get("message")) for node in nodes]
        for each, following in zip(said, [*said[1:], NOTHING], strict=False):
            self._take(each, following)
        self._end_turn()
        return self._messages

    def _take(self, said: Data, following: Data) -> None:
        role = name_of(object_of(said.get("author")).get("role"))
        content = content_of(said)
        if not said:
            return
        self._told.update(pages_by_name(said))
        if name_of(content.get("content_type")) == "thoughts":
            self._thoughts += (unmarked(each, self._left_out) for each in thoughts_in(content))
            self._count_unknown(content)
        elif role == "tool" or (role == "assistant" and name_of(said.get("recipient")) not in SHOWN_TO):
            self._take_tool(said, following)
        elif role not in SPOKEN or _is_hidden(said, content):
            self._hide(role, content)
        elif role == "user":
            self._end_turn()
            self._messages += self._question(said)
        elif name_of(said.get("channel")) == THINKING:
            self._thoughts += (unmarked(each, self._left_out) for each in texts_in(content))
        else:
            self._answer(said)
            self._take_reports(said)

    def _take_tool(self, said: Data, following: Data) -> None:
        """Add the part of a call or result that is an answer, and count the rest."""
        metadata, content = object_of(said.get("metadata")), content_of(said)
        author = object_of(said.get("author"))
        is_call = name_of(author.get("role")) == "assistant"
        name = (name_of(said.get("recipient")) if is_call else name_of(author.get("name"))) or "without a name"
        self._at = self._reading.moment(said.get("create_time"))
        self._pages = list_of(object_of(metadata.get("_cite_metadata")).get("metadata_list")) or self._pages
        if (is_call and self._write(name, content, following)) or (not is_call and self._came_later(said)):
            return
        reported = self._take_reports(said)
        if pictures := [] if is_call or _is_hidden(said, content) else list(pointers_in(content)):
            self._files += [named(each, self._names) for each in pictures]
        elif not (reported and is_told_state(content)) and (
            holds_words(_spoken(content), TYPE_FIELDS) or (not reported and holds_words(metadata.get("chatgpt_sdk")))
        ):
            count_tool(name, self._left_out)
            self._called[name] = None

    def _write(self, tool: str, content: Data, following: Data) -> bool:
        """Apply a call to a canvas, which its result, the next node, identifies."""
        canvas = object_of(object_of(following.get("metadata")).get("canvas"))
        if name_of(content_of(following).get("content_type")) == FAILURE:
            return False
        return tool.startswith(CANVAS) and write_canvas(self._documents, content, name_of(canvas.get("textdoc_id")))

    def _came_later(self, said: Data) -> bool:
        """Add the result of a long-running tool, which is itself an answer; return False if it is not one."""
        is_result = object_of(said.get("metadata")).get("is_async_task_result_message") is True
        return is_result and self._answer(said)

    def _take_reports(self, said: Data) -> bool:
        """Add the reports of a message, each in place of an earlier state of the same report."""
        reports = [*reports_in(said)]
        for report in reports:
            at = report.said.get("create_time") or said.get("create_time")
            if self._answer({**report.said, "create_time": at}):
                earlier = self._reports.setdefault(report.key, len(self._messages) - 1)
                if earlier < len(self._messages) - 1:
                    self._messages[earlier] = self._messages.pop()
        return bool(reports)

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
        if text := unmarked(text, self._left_out):
            yield message("user", text, self._reading.moment(said.get("create_time")), notices=notices)

    def _answer(self, said: Data) -> bool:
        """Add an answer with the documents and pictures that were made for it; return False if it has no text."""
        metadata = object_of(said.get("metadata"))
        text, notices = self._content(said)
        if not text:
            return False
        content = joined((self._documents.shown(), text))
        self._told.update(pages_by_name(said))
        content, sources = cited(content, metadata, self._pages, self._told, self._left_out)
        if not content:
            notices = (*notices, "not imported: marks that have no words")
            content = f"({notices[-1]})"
        notices = (*missing(self._files, self._left_out), *notices)
        facts = {
            # Newer exports name the model only for the conversation as a whole.
            "model": name_of(metadata.get("model_slug")) or self._model,
            "reasoning": joined(self._thoughts),
            "sources": sources,
            "notices": notices,
        }
        self._messages.append(message("assistant", content, self._reading.moment(said.get("create_time")), **facts))
        self._files.clear()
        self._called.clear()
        self._thoughts.clear()
        return True

    def _show_made(self) -> None:
        """Add documents and pictures that no answer followed, as an answer themselves."""
        made = unmarked(self._documents.shown(), self._left_out)
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
        """Count reasoning that no answer followed."""
        count_named("thoughts", self._thoughts, self._left_out)
        self._thoughts.clear()

    def _count_unknown(self, content: Data) -> list[str | None]:
        """Count the parts of unknown kinds, and return these kinds."""
        unknown = [part for part in unknown_in(content) if holds_words(part, TYPE_FIELDS)]
        kinds = [name_of(part.get("content_type")) or name_of(part.get("type")) for part in unknown]
        for kind, part in zip(kinds, unknown, strict=True):
            count_named(kind, part, self._left_out, TYPE_FIELDS)
        return kinds

    def _content(self, said: Data) -> tuple[str, tuple[str, ...]]:
        """Return the text and the notices of what is missing from it; without a text, the notices serve as one."""
        content, metadata = content_of(said), object_of(said.get("metadata"))
        text, kind = joined(texts_in(content)), name_of(content.get("content_type"))
        files = [name_of(object_of(file).get("name")) for file in list_of(metadata.get("attachments"))]
        names = [name for name in files if name] or [named(each, self._names) for each in pointers_in(content)]
        notices = missing(names, self._left_out)
        unknown = self._count_unknown(content)
        if not text and not notices and holds_words(content, TYPE_FIELDS):
            if not unknown:
                count_named(kind, content, self._left_out, TYPE_FIELDS)
            notices = (f"not imported: {next(iter(unknown), kind) or 'content without a type'}",)
            return f"({notices[0]})", notices
        return text or "\n".join(f"({notice})" for notice in notices), notices


def _spoken(content: Data) -> Data:
    """Return the content with its text where a single word counts as words."""
    return {**content, "text": joined(texts_in(content))}


def is_said(said: Data) -> bool:
    """Tell whether a message has words of a user or a model."""
    return name_of(object_of(said.get("author")).get("role")) in SPOKEN and any(texts_in(content_of(said)))


def _is_hidden(said: Data, content: Data) -> bool:
    return (
        object_of(said.get("metadata")).get("is_visually_hidden_from_conversation") is True
        or said.get("weight") == 0
        or name_of(content.get("content_type")) in HIDDEN_TYPES
    )
