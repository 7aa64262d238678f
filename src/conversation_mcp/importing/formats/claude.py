"""Claude's export: `conversations.json`, a list of conversations with `chat_messages`."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from conversation_mcp.importing.base import ImportFormat, ImportProblem, Item, LeftOut, ReadOptions, SourceFile
from conversation_mcp.importing.entries import each_entry
from conversation_mcp.importing.formats.claude_messages import ROLES, ClaudePath
from conversation_mcp.importing.messages import Data, conversations_in, count_named, list_of, name_of, object_of
from conversation_mcp.importing.trees import Tree, leaves_of, path_to
from conversation_mcp.records.models import Message

ROOT = "00000000-0000-4000-8000-000000000000"
"""The parent of a first message."""


def claims(_file: SourceFile, entry: object) -> bool:
    """Tell whether the entry has Claude's list of messages."""
    return any(isinstance(object_of(each).get("chat_messages"), list) for each in conversations_in(entry))


def read(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Item]:
    """Yield the branch of each conversation that ends last and, if requested, the others."""
    yield from each_entry(files, reading, _conversations)


def _conversations(entry: Data, place: str, reading: ReadOptions) -> Iterator[Item]:
    for each in conversations_in(entry):
        yield from _conversation(object_of(each), place, reading)


def _conversation(entry: Data, place: str, reading: ReadOptions) -> Iterator[Item]:
    if not isinstance(entry.get("chat_messages"), list):
        yield ImportProblem(place, "has no chat_messages")
        return
    by_name = _by_name(list_of(entry["chat_messages"]))
    given = {name: name_of(each.get("parent_message_uuid")) for name, each in by_name.items()}
    is_tree = any(parent in by_name for parent in given.values())
    parents = _parents(by_name, given)
    last = _last(entry, by_name, parents if is_tree else {})

    def told(path: Sequence[str], left_out: Counter[LeftOut]) -> Sequence[Message]:
        return ClaudePath(entry, reading, left_out).messages(by_name[name] for name in path)

    tree = Tree(
        id=name_of(entry.get("uuid")) or f"first {next(iter(by_name))}",
        place=place,
        # Older exports have no parents, but the order of one path.
        parents=parents if is_tree else {},
        main=path_to(last, parents) if is_tree else tuple(by_name),
        said=told,
        title=name_of(entry.get("name")),
        created_at=reading.moment(entry.get("created_at")),
        updated_at=reading.moment(entry.get("updated_at")),
    )
    for found in tree.conversations(reading):
        if found.branch_of is None:
            count_named("summary", entry.get("summary"), found.left_out)
        yield found


def _by_name(messages: Sequence[object]) -> dict[str, Data]:
    """Return the messages by their ids, each once; different ones of the same id are told apart by their places."""
    by_name: dict[str, Data] = {}
    for place, said in enumerate(map(object_of, messages)):
        name = name_of(said.get("uuid")) or f"#{place}"
        if name not in by_name:
            by_name[name] = said
        elif by_name[name] != said:
            by_name[f"{name}#{place}"] = said
    return by_name or {"": {}}


def _parents(by_name: Mapping[str, Data], given: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the parents; a message that names none, or one that is missing, follows the message before it."""
    before = dict(zip(by_name, (None, *by_name), strict=False))
    roots = {name for name, each in by_name.items() if "parent_message_uuid" in each and given[name] in {None, ROOT}}
    return {
        name: None if name in roots else parent if parent in by_name else before[name] for name, parent in given.items()
    }


def _last(entry: Data, by_name: Mapping[str, Data], parents: Mapping[str, str | None]) -> str:
    """Return the end of the path that was shown: the one that the export names, else the last that was said."""
    named = name_of(entry.get("current_leaf_message_uuid"))
    spoken = {name: parents.get(name) for name, said in by_name.items() if name_of(said.get("sender")) in ROLES}
    ends = (leaves_of(spoken) if parents else ()) or tuple(spoken) or tuple(by_name)
    return named if named and named in by_name else ends[-1]


CLAUDE = ImportFormat("claude", "Claude's export", claims, read)
