"""Claude's export: `conversations.json`, a list of conversations with `chat_messages`."""

from collections import Counter
from collections.abc import Iterator, Sequence

from conversation_mcp.importing.base import Found, ImportFormat, Item, LeftOut, Problem, Reading, SourceFile
from conversation_mcp.importing.claude_messages import Path
from conversation_mcp.importing.messages import Data, answered, count_named, list_of, name_of, object_of
from conversation_mcp.importing.reading import each_entry
from conversation_mcp.importing.trees import branches_of, main_and_branches, path_to


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
        if Path(entry, reading, Counter()).messages(by_name[name] for name in branch.own)
    ]

    def found(path: Sequence[str], branch_id: str, branch_of: str | None) -> Found:
        return _found(entry, place, branch_id, [by_name[name] for name in path], reading, branch_of)

    yield from main_and_branches(main, branches, source_id, reading, found)


def _found(
    entry: Data, place: str, source_id: str, said: Sequence[Data], reading: Reading, branch_of: str | None
) -> Found:
    left_out: Counter[LeftOut] = Counter()
    if branch_of is None:
        count_named("summary", entry.get("summary"), left_out)
    messages, unanswered = answered(Path(entry, reading, left_out).messages(said))
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


CLAUDE = ImportFormat("claude", "Claude's export", claims, read)
