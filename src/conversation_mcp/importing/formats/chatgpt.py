"""ChatGPT's export: `conversations.json`, or its shards `conversations-000.json` and so on."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from conversation_mcp.importing.base import ImportFormat, ImportProblem, Item, LeftOut, ReadOptions, SourceFile
from conversation_mcp.importing.entries import each_entry
from conversation_mcp.importing.formats.chatgpt_assets import AssetNames, asset_names
from conversation_mcp.importing.formats.chatgpt_messages import ChatGptPath, is_said
from conversation_mcp.importing.messages import Data, conversations_in, list_of, name_of, object_of
from conversation_mcp.importing.trees import Tree, leaves_of, path_to
from conversation_mcp.records.models import Message

SHARD = re.compile(r"(.*/|)conversations-([0-9]{1,9})\.json")


def claims(_file: SourceFile, entry: object) -> bool:
    """Tell whether the entry has ChatGPT's tree of messages."""
    return any(isinstance(object_of(each).get("mapping"), dict) for each in conversations_in(entry))


def read(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Item]:
    """Yield the current branch of each conversation and, if requested, the others."""
    yield from _missing_shards(files)
    names = asset_names(files[0].beside.values() if files else ())
    yield from each_entry(files, reading, partial(_conversations, names))


def _missing_shards(files: Sequence[SourceFile]) -> Iterator[ImportProblem]:
    """Yield a problem for each gap in the numbers of the shards, which would otherwise go unnoticed."""
    rows: dict[str, dict[int, str]] = {}
    for name in (*(files[0].beside if files else ()), *(file.name for file in files)):
        if found := SHARD.fullmatch(name):
            rows.setdefault(found[1], {})[int(found[2])] = found[2]
    for folder, shards in rows.items():
        for number, following in pairwise(sorted(shards)):
            if following > number + 1:
                after, before = (f"conversations-{shards[each]}.json" for each in (number, following))
                yield ImportProblem(f"{folder}{before}", f"has a gap before it: what comes after {after} is missing")


def _conversations(names: AssetNames, entry: Data, place: str, reading: ReadOptions) -> Iterator[Item]:
    for each in conversations_in(entry):
        yield from _conversation(names, object_of(each), place, reading)


def _conversation(names: AssetNames, entry: Data, place: str, reading: ReadOptions) -> Iterator[Item]:
    nodes = object_of(entry.get("mapping"))
    if not isinstance(entry.get("mapping"), dict):
        yield ImportProblem(place, "has no mapping, so it has no messages")
        return
    parents = _parents(nodes)

    def said(path: Sequence[str], left_out: Counter[LeftOut]) -> Sequence[Message]:
        return ChatGptPath(entry, names, reading, left_out).messages(nodes[node] for node in path)

    tree = Tree(
        id=name_of(entry.get("conversation_id")) or name_of(entry.get("id")) or f"root {next(iter(nodes), '')}",
        place=place,
        parents=parents,
        main=_main(entry, nodes, parents),
        said=said,
        title=name_of(entry.get("title")),
        created_at=reading.moment(entry.get("create_time")),
        updated_at=reading.moment(entry.get("update_time")),
    )
    yield from tree.conversations(reading)


def _parents(nodes: Data) -> dict[str, str | None]:
    """Return the parent of each node: the one that it names, else the one that names it as a child.

    Many exports have no `children`, and times are missing or equal.
    """
    named = {
        child: node
        for node, value in nodes.items()
        for child in list_of(object_of(value).get("children"))
        if isinstance(child, str)
    }
    given = {node: object_of(value).get("parent") for node, value in nodes.items()}
    return {
        node: parent if isinstance(parent, str) and parent in nodes else named.get(node)
        for node, parent in given.items()
    }


def _main(entry: Data, nodes: Data, parents: dict[str, str | None]) -> tuple[str, ...]:
    """Return the path that was shown: to the node that the export names, else to the latest leaf, else to the last."""
    current = entry.get("current_node")
    path = path_to(current if isinstance(current, str) else None, parents)
    if any(is_said(object_of(object_of(nodes[node]).get("message"))) for node in path):
        return path
    leaves = leaves_of(parents) or tuple(nodes)
    times = {leaf: object_of(object_of(nodes[leaf]).get("message")).get("create_time") for leaf in leaves}
    dated = {leaf: time for leaf, time in times.items() if isinstance(time, int | float)}
    leaf = max(dated, key=lambda leaf: dated[leaf]) if dated else (leaves[-1] if leaves else None)
    return path_to(leaf, parents)


CHATGPT = ImportFormat("chatgpt", "ChatGPT's export", claims, read)
