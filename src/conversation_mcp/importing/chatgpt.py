"""ChatGPT's export: `conversations.json`, or its shards `conversations-000.json` and so on."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from conversation_mcp.importing.base import Found, ImportFormat, Item, LeftOut, Problem, Reading, SourceFile
from conversation_mcp.importing.citations import cited
from conversation_mcp.importing.messages import (
    Data,
    answered,
    joined,
    list_of,
    message,
    missing,
    name_of,
    object_of,
    text_of,
)
from conversation_mcp.importing.reading import each_entry
from conversation_mcp.importing.trees import branches_of, leaves_of, main_and_branches, path_to
from conversation_mcp.models import Message

HIDDEN_TYPES = frozenset({"user_editable_context", "model_editable_context", "reasoning_recap", "system_error"})
SHOWN_TO = frozenset({None, "all"})


def claims(_file: SourceFile, entry: object) -> bool:
    """Tell whether the entry has ChatGPT's tree of messages."""
    return isinstance(object_of(entry).get("mapping"), dict)


def read(files: Sequence[SourceFile], reading: Reading) -> Iterator[Item]:
    """Yield the current branch of each conversation and, if asked for, the others."""
    yield from each_entry(files, reading, _conversation)


def _conversation(entry: Data, place: str, reading: Reading) -> Iterator[Item]:
    nodes = object_of(entry.get("mapping"))
    if not isinstance(entry.get("mapping"), dict):
        yield Problem(place, "has no mapping, so it has no messages")
        return
    parents = {node: _parent(value) for node, value in nodes.items()}
    main = path_to(_current(entry, nodes, parents), parents)
    source_id = name_of(entry.get("conversation_id")) or name_of(entry.get("id")) or f"root {next(iter(nodes), '')}"
    branches = [
        branch
        for branch in branches_of(main, parents)
        if any(_messages(entry, [nodes[node] for node in branch.own], reading, Counter()))
    ]

    def found(path: Sequence[str], branch_id: str, branch_of: str | None) -> Found:
        return _found(entry, place, branch_id, [nodes[node] for node in path], reading, branch_of)

    yield from main_and_branches(main, branches, source_id, reading, found)


def _found(
    entry: Data, place: str, source_id: str, nodes: Sequence[Any], reading: Reading, branch_of: str | None
) -> Found:
    left_out: Counter[LeftOut] = Counter()
    messages, unanswered = answered(tuple(_messages(entry, nodes, reading, left_out)))
    return Found(
        id=source_id,
        place=place,
        messages=messages,
        title=name_of(entry.get("title")),
        created_at=reading.moment(entry.get("create_time")),
        updated_at=reading.moment(entry.get("update_time")),
        unanswered=unanswered,
        branch_of=branch_of,
        left_out=left_out,
    )


def _messages(entry: Data, nodes: Sequence[Any], reading: Reading, left_out: Counter[LeftOut]) -> Iterator[Message]:
    thoughts: list[str] = []
    tool_pages: Sequence[Any] = ()
    for node in nodes:
        said = object_of(object_of(node).get("message"))
        role = name_of(object_of(said.get("author")).get("role"))
        content, metadata = object_of(said.get("content")), object_of(said.get("metadata"))
        if name_of(content.get("content_type")) == "thoughts":
            thoughts += [text_of(object_of(thought).get("content")) for thought in list_of(content.get("thoughts"))]
        elif role == "tool" or (role == "assistant" and name_of(said.get("recipient")) not in SHOWN_TO):
            left_out["tool messages"] += 1
            tool_pages = list_of(object_of(metadata.get("_cite_metadata")).get("metadata_list")) or tool_pages
        elif role not in {"user", "assistant"} or _is_hidden(said, content, metadata):
            left_out["hidden messages"] += bool(joined(_texts(content)))
        else:
            yield from _message(
                role, entry, said, joined(thoughts) if role == "assistant" else "", tool_pages, reading, left_out
            )
            thoughts.clear()


def _message(
    role: str,
    entry: Data,
    said: Data,
    reasoning: str,
    tool_pages: Sequence[Any],
    reading: Reading,
    left_out: Counter[LeftOut],
) -> Iterator[Message]:
    content, metadata = object_of(said.get("content")), object_of(said.get("metadata"))
    files = [name_of(object_of(file).get("name")) for file in list_of(metadata.get("attachments"))]
    pointers = [name_of(object_of(part).get("asset_pointer")) for part in list_of(content.get("parts"))]
    names = [name for name in files if name] or [name for name in pointers if name]
    text, at = joined(_texts(content)), reading.moment(said.get("create_time"))
    if not text and not names:
        return
    notices = missing(names, left_out)
    text = text or "\n".join(f"({notice})" for notice in notices)
    if role == "user":
        yield message("user", text, at, notices=notices)
        return
    text, sources = cited(text, metadata, tool_pages, left_out)
    model = name_of(metadata.get("model_slug")) or name_of(entry.get("default_model_slug"))
    yield message("assistant", text, at, model=model, sources=sources, notices=notices, reasoning=reasoning)


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


def _is_hidden(said: Data, content: Data, metadata: Data) -> bool:
    return (
        metadata.get("is_visually_hidden_from_conversation") is True
        or said.get("weight") == 0
        or name_of(content.get("content_type")) in HIDDEN_TYPES
    )


def _parent(node: object) -> str | None:
    parent = object_of(node).get("parent")
    return parent if isinstance(parent, str) else None


def _current(entry: Data, nodes: Data, parents: dict[str, str | None]) -> str | None:
    """Return the leaf that is shown: the one that is named, else the latest, else the last."""
    current = entry.get("current_node")
    if isinstance(current, str) and current in nodes:
        return current
    leaves = leaves_of(parents) or tuple(nodes)
    times = {leaf: object_of(object_of(nodes[leaf]).get("message")).get("create_time") for leaf in leaves}
    dated = {leaf: time for leaf, time in times.items() if isinstance(time, int | float)}
    return max(dated, key=lambda leaf: dated[leaf]) if dated else (leaves[-1] if leaves else None)


CHATGPT = ImportFormat("chatgpt", "ChatGPT's export", claims, read)
