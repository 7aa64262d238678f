"""ChatGPT's export: `conversations.json`, or its shards `conversations-000.json` and so on."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from conversation_mcp.importing.base import Found, ImportFormat, Item, LeftOut, Problem, Reading, SourceFile
from conversation_mcp.importing.chatgpt_messages import Path
from conversation_mcp.importing.messages import Data, answered, name_of, object_of
from conversation_mcp.importing.reading import each_entry
from conversation_mcp.importing.trees import branches_of, leaves_of, main_and_branches, path_to

SHARD = re.compile(r"(.*/|)conversations-([0-9]{1,9})\.json")


def claims(_file: SourceFile, entry: object) -> bool:
    """Tell whether the entry has ChatGPT's tree of messages."""
    return isinstance(object_of(entry).get("mapping"), dict)


def read(files: Sequence[SourceFile], reading: Reading) -> Iterator[Item]:
    """Yield the current branch of each conversation and, if asked for, the others."""
    yield from _missing_shards(files)
    yield from each_entry(files, reading, _conversation)


def _missing_shards(files: Sequence[SourceFile]) -> Iterator[Problem]:
    """Yield what is missing between the shards of a folder, which nothing else would show."""
    rows: dict[str, dict[int, str]] = {}
    for name in (*(files[0].beside if files else ()), *(file.name for file in files)):
        if found := SHARD.fullmatch(name):
            rows.setdefault(found[1], {})[int(found[2])] = found[2]
    for folder, shards in rows.items():
        for number, following in pairwise(sorted(shards)):
            if following > number + 1:
                after, before = (f"conversations-{shards[each]}.json" for each in (number, following))
                yield Problem(f"{folder}{before}", f"has a gap before it: what comes after {after} is missing")


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
        if Path(entry, reading, Counter()).messages(nodes[node] for node in branch.own)
    ]

    def found(path: Sequence[str], branch_id: str, branch_of: str | None) -> Found:
        return _found(entry, place, branch_id, [nodes[node] for node in path], reading, branch_of)

    yield from main_and_branches(main, branches, source_id, reading, found)


def _found(
    entry: Data, place: str, source_id: str, nodes: Sequence[Any], reading: Reading, branch_of: str | None
) -> Found:
    left_out: Counter[LeftOut] = Counter()
    messages, unanswered = answered(Path(entry, reading, left_out).messages(nodes))
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
