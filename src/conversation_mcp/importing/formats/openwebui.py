"""Open WebUI's export: a list of chats, each with the tree of its messages."""

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from conversation_mcp.importing.base import ImportFormat, ImportProblem, Item, LeftOut, ReadOptions, SourceFile
from conversation_mcp.importing.citations import Numbers, Pages
from conversation_mcp.importing.entries import each_entry
from conversation_mcp.importing.messages import (
    Data,
    count_named,
    count_tool,
    joined,
    list_of,
    message,
    missing,
    name_of,
    object_of,
    only_tools,
    text_of,
    texts_of,
)
from conversation_mcp.importing.trees import Tree, leaves_of, path_to
from conversation_mcp.records.models import Message, Role, Source
from conversation_mcp.records.usage import Usage

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
TEXT_BLOCKS = ("output_text", "text", "summary_text")
DETAILS = re.compile(r'<details type="(reasoning|tool_calls|code_interpreter)"([^>]*)>(.*?)</details>\n*', re.DOTALL)
SUMMARY = re.compile(r"\s*<summary>.*?</summary>\n?", re.DOTALL)
TOOL_NAME = re.compile(r'\bname="([^"]*)"')
TAKEN = frozenset(
    re.findall(
        r"\w+",
        """
        id parentId childrenIds role content output model modelName modelIdx models timestamp done files sources usage
        """,
    )
)
"""Fields of a message that are read here, or hold no words of a conversation."""
MAX_NAME_CHARS, MAX_FOLDED = 200, 1000


def claims(_file: SourceFile, entry: object) -> bool:
    """Tell whether the entry has Open WebUI's history."""
    return isinstance(object_of(_chat(object_of(entry)).get("history")).get("messages"), dict)


def read(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Item]:
    """Yield the current branch of each chat and, if requested, the others."""
    yield from each_entry(files, reading, _conversation)


def _chat(entry: Data) -> Data:
    """Return the object that holds the messages: the chat within the server's record of it, or the entry itself."""
    return object_of(entry.get("chat")) or entry


def _conversation(entry: Data, place: str, reading: ReadOptions) -> Iterator[Item]:
    chat = _chat(entry)
    history = object_of(chat.get("history"))
    if not isinstance(history.get("messages"), dict):
        yield ImportProblem(place, "has no chat with a history of messages")
        return
    nodes = {name: object_of(node) for name, node in object_of(history["messages"]).items()}
    parents = {
        name: parent if isinstance(parent := node.get("parentId"), str) else None for name, node in nodes.items()
    }
    system = text_of(object_of(chat.get("params")).get("system"))

    def said(path: Sequence[str], left_out: Counter[LeftOut]) -> Sequence[Message]:
        made = [each for name in path for each in _messages(nodes[name], reading, left_out)]
        return [message("system", system), *made] if system.strip() and made else made

    tree = Tree(
        id=name_of(entry.get("id")) or f"root {next(iter(nodes), '')}",
        place=place,
        parents=parents,
        main=path_to(_current(history, parents), parents),
        said=said,
        title=name_of(entry.get("title")) or name_of(chat.get("title")),
        created_at=reading.moment(entry.get("created_at")),
        updated_at=reading.moment(entry.get("updated_at")),
    )
    yield from tree.conversations(reading)


def _current(history: Data, parents: Mapping[str, str | None]) -> str | None:
    current = history.get("currentId")
    return current if isinstance(current, str) and current in parents else next(reversed(leaves_of(parents)), None)


def _messages(said: Data, reading: ReadOptions, left_out: Counter[LeftOut]) -> Iterator[Message]:
    role = ROLES.get(name_of(said.get("role")) or "")
    if role is None:
        count_named(said.get("role"), {"text": joined(texts_of(said.get("content")))}, left_out)
        return
    called: dict[str, None] = {}
    reasoning: list[str] = []
    text = _output(said, reasoning, called, left_out) if role == "assistant" else joined(texts_of(said.get("content")))
    notices = missing([_file_name(object_of(file)) for file in list_of(said.get("files"))], left_out)
    for name, value in said.items():
        if name not in TAKEN:
            count_named(name, value, left_out)
    content = text or "\n".join(f"({notice})" for notice in notices)
    at = reading.moment(said.get("timestamp"))
    if content:
        facts = {
            "model": name_of(said.get("model")) if role == "assistant" else None,
            "reasoning": joined(reasoning),
            "sources": _sources(said),
            "usage": _usage(object_of(said.get("usage"))),
            "notices": notices,
        }
        yield message(role, content, at, **facts)
    elif called:
        yield only_tools(called, at)


def _output(said: Data, reasoning: list[str], called: dict[str, None], left_out: Counter[LeftOut]) -> str:
    """Return the words of an answer: the texts in the model's output, else the content without folded parts."""
    texts: list[str] = []
    tools: dict[str | None, str] = {}
    for item in map(object_of, list_of(said.get("output"))):
        kind, call = name_of(item.get("type")), name_of(item.get("call_id"))
        words = joined(texts_of(item.get("content"), TEXT_BLOCKS))
        for part in map(object_of, (*list_of(item.get("content")), *list_of(item.get("summary")))):
            if name_of(part.get("type")) not in TEXT_BLOCKS:
                count_named(part.get("type"), part, left_out, ("type",))
        if kind == "message":
            texts.append(words)
        elif kind == "reasoning":
            reasoning.append(words or joined(texts_of(item.get("summary"), TEXT_BLOCKS)))
        elif kind in {"function_call", "function_call_output"}:
            name = name_of(item.get("name")) or tools.get(call) or "without a name"
            tools[call], called[name] = name, None
            count_tool(name, left_out)
        else:
            count_named(kind, item, left_out, ("type", "id", "status"))
    if text := joined(texts):
        return text
    return _unfolded(said, reasoning, called, left_out)


def _unfolded(said: Data, reasoning: list[str], called: dict[str, None], left_out: Counter[LeftOut]) -> str:
    """Return the content without the reasoning and calls that older versions fold into it."""
    content = joined(texts_of(said.get("content")))
    # For each fold, all of the text before it is looked through.
    if content.count("<details") > MAX_FOLDED:
        return content

    def unfold(found: re.Match[str]) -> str:
        if content.count("```", 0, found.start()) % 2:
            return found[0]  # inside a code block it is part of the answer
        kind, attributes, inside = found[1], found[2], html.unescape(SUMMARY.sub("", found[3], count=1))
        if kind == "reasoning":
            reasoning.extend([] if any(reasoning) else [re.sub(r"^> ?", "", inside, flags=re.MULTILINE).strip()])
        elif not said.get("output"):
            name = TOOL_NAME.search(attributes)
            tool = html.unescape(name[1]) if name else kind
            called[tool] = None
            count_tool(tool, left_out)
        return ""

    return DETAILS.sub(unfold, content).strip()


def _sources(said: Data) -> tuple[Source, ...]:
    """Return the pages in the order of their numbers; `[n]` in the text means the n-th distinct page."""
    numbers = Numbers()
    for source in map(object_of, list_of(said.get("sources"))):
        own = object_of(source.get("source"))
        pages: Pages = []
        for facts in map(object_of, list_of(source.get("metadata")) or [{}]):
            known = [name_of(each) for each in (facts.get("source"), facts.get("url"), own.get("url"), own.get("id"))]
            title = name_of(facts.get("title")) or name_of(facts.get("name")) or name_of(own.get("name"))
            pages.append((next(filter(None, known), title or "a source without a name"), title))
        numbers.marks(pages)
    return tuple(_addressed(source) for source in numbers.sources.values())


def _addressed(source: Source) -> Source:
    """Return the source, with its name as the title if it has no address."""
    is_page = (source.url or "").startswith(("https://", "http://"))
    return source if is_page else Source.of(id=source.id, title=source.title or source.url)


def _usage(given: Data) -> Usage | None:
    counts = {
        "input_tokens": given.get("prompt_tokens", given.get("input_tokens")),
        "output_tokens": given.get("completion_tokens", given.get("output_tokens")),
    }
    known = {name: n for name, n in counts.items() if isinstance(n, int) and not isinstance(n, bool) and n >= 0}
    return Usage.of(**known) if known else None


def _file_name(file: Data) -> str:
    names = [file.get("name"), object_of(file.get("file")).get("filename"), file.get("url"), file.get("type")]
    short = (name for each in names if (name := name_of(each)) and len(name) <= MAX_NAME_CHARS and name[:5] != "data:")
    return next(short, "a file without a name")


OPENWEBUI = ImportFormat("openwebui", "Open WebUI's export", claims, read)
