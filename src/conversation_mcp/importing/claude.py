"""Claude's export: `conversations.json`, a list of conversations with `chat_messages`."""

from collections import Counter
from collections.abc import Iterator, Sequence

from conversation_mcp.importing.base import Found, ImportFormat, Item, LeftOut, Problem, Reading, SourceFile
from conversation_mcp.importing.messages import (
    Data,
    answered,
    fenced,
    joined,
    list_of,
    message,
    missing,
    name_of,
    object_of,
    text_of,
    texts_of,
)
from conversation_mcp.importing.reading import each_entry
from conversation_mcp.importing.trees import branches_of, main_and_branches, path_to
from conversation_mcp.models import Message, Role

ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}
TOOL_BLOCKS = frozenset({"tool_use", "tool_result"})


def claims(_file: SourceFile, entry: object) -> bool:
    """Tell whether the entry has Claude's list of messages."""
    return isinstance(object_of(entry).get("chat_messages"), list)


def read(files: Sequence[SourceFile], reading: Reading) -> Iterator[Item]:
    """Yield the branch of each conversation that ends last and, if asked for, the others."""
    yield from each_entry(files, reading, _conversation)


def _conversation(entry: Data, place: str, reading: Reading) -> Iterator[Item]:
    if not isinstance(entry.get("chat_messages"), list):
        yield Problem(place, "has no chat_messages")
        return
    said = [object_of(each) for each in list_of(entry["chat_messages"])] or [{}]
    names = [name_of(each.get("uuid")) or f"#{place}" for place, each in enumerate(said)]
    by_name = dict(zip(names, said, strict=True))
    source_id = name_of(entry.get("uuid")) or f"first {next(iter(names), '')}"
    parents = {name: name_of(each.get("parent_message_uuid")) for name, each in by_name.items()}
    is_tree = any(parent in by_name for parent in parents.values())
    main = path_to(names[-1], parents) if is_tree else tuple(names)
    branches = [
        branch
        for branch in (branches_of(main, parents) if is_tree else ())
        if any(any(_message(by_name[name], reading, Counter())) for name in branch.own)
    ]

    def found(path: Sequence[str], branch_id: str, branch_of: str | None) -> Found:
        return _found(entry, place, branch_id, [by_name[name] for name in path], reading, branch_of)

    yield from main_and_branches(main, branches, source_id, reading, found)


def _found(
    entry: Data, place: str, source_id: str, said: Sequence[Data], reading: Reading, branch_of: str | None
) -> Found:
    left_out: Counter[LeftOut] = Counter()
    messages, unanswered = answered([made for each in said for made in _message(each, reading, left_out)])
    return Found(
        id=source_id,
        place=place,
        messages=messages,
        title=name_of(entry.get("name")),
        created_at=reading.moment(entry.get("created_at")),
        updated_at=reading.moment(entry.get("updated_at")),
        unanswered=unanswered,
        branch_of=branch_of,
        left_out=left_out,
    )


def _message(said: Data, reading: Reading, left_out: Counter[LeftOut]) -> Iterator[Message]:
    role = ROLES.get(name_of(said.get("sender")) or "")
    blocks = [object_of(block) for block in list_of(said.get("content"))]
    left_out["tool messages"] += sum(name_of(block.get("type")) in TOOL_BLOCKS for block in blocks)
    text = joined(texts_of(said.get("content"))) or text_of(said.get("text"))
    attachments = [object_of(each) for each in list_of(said.get("attachments"))]
    pasted = [each for each in attachments if text_of(each.get("extracted_content")).strip()]
    files = [*(each for each in attachments if each not in pasted), *map(object_of, list_of(said.get("files")))]
    notices = missing([name_of(each.get("file_name")) or "a file without a name" for each in files], left_out)
    quoted = [
        fenced(name_of(each.get("file_name")) or "Pasted text", text_of(each["extracted_content"])) for each in pasted
    ]
    content = joined((text, *quoted)) or "\n".join(f"({notice})" for notice in notices)
    if not content:
        return
    if role is None:
        left_out["hidden messages"] += 1
        return
    reasoning = joined(text_of(block.get("thinking")) for block in blocks if name_of(block.get("type")) == "thinking")
    yield message(role, content, reading.moment(said.get("created_at")), notices=notices, reasoning=reasoning)


CLAUDE = ImportFormat("claude", "Claude's export", claims, read)
