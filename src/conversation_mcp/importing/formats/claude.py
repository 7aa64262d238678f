"""Claude's export: `conversations.json`, a list of conversations with `chat_messages`."""

from collections import Counter
from collections.abc import Iterator, Sequence

from conversation_mcp.importing.base import ImportFormat, ImportProblem, Item, LeftOut, ReadOptions, SourceFile
from conversation_mcp.importing.entries import each_entry
from conversation_mcp.importing.formats.claude_messages import ROLES, ClaudePath
from conversation_mcp.importing.messages import Data, count_named, list_of, name_of, object_of
from conversation_mcp.importing.trees import Tree, path_to
from conversation_mcp.records.models import Message


def claims(_file: SourceFile, entry: object) -> bool:
    """Tell whether the entry has Claude's list of messages."""
    return isinstance(object_of(entry).get("chat_messages"), list)


def read(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Item]:
    """Yield the branch of each conversation that ends last and, if requested, the others."""
    yield from each_entry(files, reading, _conversation)


def _conversation(entry: Data, place: str, reading: ReadOptions) -> Iterator[Item]:
    if not isinstance(entry.get("chat_messages"), list):
        yield ImportProblem(place, "has no chat_messages")
        return
    said = [object_of(each) for each in list_of(entry["chat_messages"])] or [{}]
    names = [name_of(each.get("uuid")) or f"#{place}" for place, each in enumerate(said)]
    by_name = dict(zip(names, said, strict=True))
    given = {name: name_of(each.get("parent_message_uuid")) for name, each in by_name.items()}
    is_tree = any(parent in by_name for parent in given.values())
    before = dict(zip(by_name, (None, *by_name), strict=False))
    parents = {name: given[name] if "parent_message_uuid" in each else before[name] for name, each in by_name.items()}
    last = next((name for name in reversed(names) if name_of(by_name[name].get("sender")) in ROLES), names[-1])

    def told(path: Sequence[str], left_out: Counter[LeftOut]) -> Sequence[Message]:
        return ClaudePath(entry, reading, left_out).messages(by_name[name] for name in path)

    tree = Tree(
        id=name_of(entry.get("uuid")) or f"first {next(iter(names), '')}",
        place=place,
        # Older exports have no parents, but the order of one path.
        parents=parents if is_tree else {},
        main=path_to(last, parents) if is_tree else names,
        said=told,
        title=name_of(entry.get("name")),
        created_at=reading.moment(entry.get("created_at")),
        updated_at=reading.moment(entry.get("updated_at")),
    )
    for found in tree.conversations(reading):
        if found.branch_of is None:
            count_named("summary", entry.get("summary"), found.left_out)
        yield found


CLAUDE = ImportFormat("claude", "Claude's export", claims, read)
