"""Helpers of all formats for making messages: clean texts, lists of blocks, unanswered questions."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, cast

from conversation_mcp.importing.base import LeftOut
from conversation_mcp.records.models import Message, PendingTurn, Role, iso
from conversation_mcp.text import shorten, storable

# The names are those of the source, which may have any number of them, at any length.
MAX_NAME_CHARS, MAX_NAMES = 60, 100
SPOKEN_FIELDS = frozenset({"content", "text", "prompt"})
"""Fields in which even a single word is something that was said."""

Data = Mapping[str, Any]


def object_of(value: object) -> Data:
    """Return the value if it is a JSON object, else an empty one."""
    return cast("Data", value) if isinstance(value, dict) else {}


def list_of(value: object) -> Sequence[Any]:
    """Return the value if it is a JSON array, else an empty one."""
    return cast("Sequence[Any]", value) if isinstance(value, list) else ()


def text_of(value: object) -> str:
    """Return the value as storable text if it is a string, else an empty text."""
    return storable(value) if isinstance(value, str) else ""


def name_of(value: object) -> str | None:
    """Return a short text such as the name of a model on one line; None if it is blank."""
    return " ".join(text_of(value).split()) or None


def conversations_in(entry: object) -> Sequence[Any]:
    """Return the conversations of an entry that holds them all, else the entry."""
    return list_of(object_of(entry).get("conversations")) or (entry,)


def texts_of(content: object, kinds: Collection[str] = ("text",)) -> Iterator[str]:
    """Yield the texts of content that is a string or a list of typed blocks."""
    if isinstance(content, str):
        yield storable(content)
    for block in list_of(content):
        if isinstance(block, str):
            yield storable(block)
        elif name_of(object_of(block).get("type")) in kinds:
            yield text_of(object_of(block).get("text"))


def joined(texts: Iterable[str]) -> str:
    """Return the texts that are not blank, as paragraphs."""
    return "\n\n".join(text for text in texts if text.strip())


def message(role: Role, content: str, at: datetime | None = None, **facts: object) -> Message:
    """Return a message with the facts that are not empty."""
    known = {name: value for name, value in facts.items() if value not in (None, "", (), [])}
    return Message.of(role=role, content=content, created_at=iso(at) if at else None, **known)


def missing(names: Sequence[str], left_out: Counter[LeftOut]) -> tuple[str, ...]:
    """Count attachments that are not imported, and return the notices that name them."""
    left_out["attachments"] += len(names)
    return tuple(f"attachment not imported: {name}" for name in names)


def count_named(name: object, value: object, left_out: Counter[LeftOut], beside: Collection[str] = ()) -> None:
    """Count a value that is left out under the name that its source gives it, if it holds words.

    Args:
        name: the name in the source.
        value: the value that is left out.
        left_out: the counter.
        beside: names of fields that never hold words.
    """
    if holds_words(value, beside):
        known = shorten(name_of(name) or "without a name", MAX_NAME_CHARS)
        left_out[known if known in left_out or len(left_out) < MAX_NAMES else "of other kinds"] += 1


def holds_words(value: object, beside: Collection[str] = ()) -> bool:
    """Tell whether a JSON value holds a text of several words, or of one in a field for texts."""
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        name, each = waiting.pop()
        if isinstance(each, str):
            if len(each.split(maxsplit=1)) > 1 or (name in SPOKEN_FIELDS and each.strip()):
                return True
        elif isinstance(each, dict):
            waiting += [field for field in cast("Data", each).items() if field[0] not in beside]
        else:
            waiting += [(name, part) for part in list_of(each)]
    return False


def fenced(name: str, text: str) -> str:
    """Return a pasted text under its name, in a fence that nothing in it can close."""
    runs = (line.strip() for line in text.splitlines())
    longest = max((len(run) for run in runs if not run.strip("`")), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{name}:\n\n{fence}\n{text}\n{fence}"


def answered(
    messages: Sequence[Message], status: str = "interrupted"
) -> tuple[tuple[Message, ...], tuple[PendingTurn, ...]]:
    """Return the messages up to the last answer, and the questions after it as unanswered ones."""
    end = len(messages)
    while end and messages[end - 1].role == "user":
        end -= 1
    questions = tuple(
        PendingTurn.of(question=question.content, status=status, started_at=question.created_at)
        for question in messages[end:]
    )
    return tuple(messages[:end]), questions


def digest(messages: Iterable[Message]) -> str:
    """Return an id for a conversation without one, from its messages."""
    whole = sha256()
    for said in messages:
        whole.update(f"{said.role}\0{len(said.content)}\0{said.content}\0".encode())
    return whole.hexdigest()[:24]


def count_tool(name: str, left_out: Counter[LeftOut]) -> None:
    """Count the call of a tool, or its result, under the name of the tool."""
    count_named(f"tool {name}", {"text": name}, left_out)


def only_tools(called: Iterable[str], at: datetime | None) -> Message:
    """Return a message in place of an answer without words, which names the tools that were called."""
    notice = f"nothing was said here; tools that were called: {', '.join(called)}"
    return message("assistant", f"({notice})", at, notices=(notice,))
