"""Gemini conversations in files of their own, as Takeout exports them for Workspace: turns of user and system."""

from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256

from conversation_mcp.importing.base import ImportProblem, Item, LeftOut, ReadOptions, Unplaced
from conversation_mcp.importing.messages import (
    Data,
    count_named,
    joined,
    list_of,
    message,
    missing,
    name_of,
    object_of,
    text_of,
)
from conversation_mcp.importing.trees import Tree, path_to
from conversation_mcp.records.models import Message

TURNS = ("user_turn", "system_turn")
USER_FIELDS = frozenset({"prompt", "turn_index", "turn_last_modified", "turn_deleted_time", "images", "files"})
SYSTEM_FIELDS = frozenset({"text", "turn_index", "turn_last_modified", "turn_deleted_time", "images", "model_thoughts"})

FIELDS = {"text": ("data", "cards"), "model_thoughts": ("headline", "description")}
"""The fields that are read of the items in these lists."""


def conversation(entry: Data, place: str, reading: ReadOptions) -> Iterator[Item]:
    """Yield the conversation; a turn whose number is repeated replaces all turns from that number on."""
    if not isinstance(entry.get("conversation_turns"), list):
        yield ImportProblem(place, "has no list of turns")
        return
    nodes: dict[str, tuple[str, Data]] = {}
    parents: dict[str, str | None] = {}
    path: list[tuple[float, str]] = []
    others: Counter[LeftOut] = Counter()
    for turn in map(object_of, list_of(entry["conversation_turns"])):
        _count_other_turns(turn, others)
        for kind in TURNS:
            if facts := object_of(turn.get(kind)):
                number = facts.get("turn_index")
                index = number if isinstance(number, int) else (path[-1][0] + 1 if path else 0)
                while path and path[-1][0] >= index:
                    path.pop()
                name = f"#{len(nodes)}"
                nodes[name], parents[name] = (kind, facts), path[-1][1] if path else None
                path.append((index, name))

    def said(names: Sequence[str], left_out: Counter[LeftOut]) -> Sequence[Message]:
        return [each for name in names for each in _messages(*nodes[name], reading, left_out)]

    first = next((text_of(facts.get("prompt")) for kind, facts in nodes.values() if kind == "user_turn"), "")
    begun = text_of(entry.get("creation_time"))
    tree = Tree(
        id=f"{begun}/{sha256(first.encode()).hexdigest()[:12]}",
        place=place,
        parents=parents,
        main=path_to(path[-1][1] if path else None, parents),
        said=said,
        title=name_of(entry.get("title")),
        created_at=reading.moment(begun),
        updated_at=reading.moment(entry.get("last_modification_time")),
    )
    yield from tree.conversations(reading)
    if others:
        yield Unplaced(others)


def _count_other_turns(turn: Data, left_out: Counter[LeftOut]) -> None:
    """Count the contents of a turn other than those of user and system."""
    if not any(kind in turn for kind in TURNS):
        count_named(turn.get("type") or "conversation_turns", turn, left_out, ("type",))
        return
    for kind, value in turn.items():
        if kind not in TURNS:
            count_named(kind, value, left_out)


def _messages(kind: str, facts: Data, reading: ReadOptions, left_out: Counter[LeftOut]) -> Iterator[Message]:
    pictures = (name_of(each) or "a picture without a name" for each in list_of(facts.get("images")))
    notices = missing(list(pictures), left_out)
    for name, value in facts.items():
        if name not in (USER_FIELDS if kind == "user_turn" else SYSTEM_FIELDS):
            count_named(name, value, left_out)
    for name, fields in FIELDS.items() if kind == "system_turn" else ():
        for item in list_of(facts.get(name)):
            if not any(object_of(item).get(field) for field in fields):
                count_named(object_of(item).get("type") or name, object_of(item), left_out, ("type",))
    text = text_of(facts.get("prompt")) if kind == "user_turn" else joined(_texts(facts))
    content = text if text.strip() else "\n".join(f"({notice})" for notice in notices)
    if not content:
        return
    at = reading.moment(facts.get("turn_last_modified"))
    if kind == "user_turn":
        yield message("user", content, at, notices=notices)
        return
    thoughts = map(object_of, list_of(facts.get("model_thoughts")))
    reasoning = joined(joined((text_of(each.get("headline")), text_of(each.get("description")))) for each in thoughts)
    yield message("assistant", content, at, reasoning=reasoning, notices=notices)


def _texts(facts: Data) -> Iterator[str]:
    for item in list_of(facts.get("text")):
        yield text_of(item) or text_of(object_of(item).get("data"))
        for card in list_of(object_of(item).get("cards")):
            yield text_of(object_of(card).get("content"))
