"""ShareGPT: `conversations` of turns with `from` and `value`, in an array or one conversation per line."""

from collections import Counter
from collections.abc import Iterator, Sequence

from conversation_mcp.importing.base import (
    ImportFormat,
    ImportProblem,
    Item,
    LeftOut,
    ReadOptions,
    Sourced,
    SourceFile,
)
from conversation_mcp.importing.entries import each_entry
from conversation_mcp.importing.messages import (
    Data,
    answered,
    count_named,
    digest,
    list_of,
    message,
    name_of,
    object_of,
    text_of,
)
from conversation_mcp.records.models import Message, Role

ROLES: dict[str, Role] = {
    "human": "user", "user": "user", "prompter": "user", "gpt": "assistant", "assistant": "assistant",
    "chatgpt": "assistant", "bing": "assistant", "bard": "assistant", "model": "assistant", "system": "system",
}  # fmt: skip
TOOLS = frozenset({"function_call", "observation", "tool", "function", "tool_call", "tool_response"})


def claims(_file: SourceFile, entry: object) -> bool:
    """Tell whether the entry has turns as ShareGPT writes them."""
    turns = [object_of(turn) for turn in list_of(object_of(entry).get("conversations"))]
    return any(("from" in turn and "value" in turn) or ("role" in turn and "content" in turn) for turn in turns)


def read(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Item]:
    """Yield the conversations. Ids are repeated between files, so the id here includes the first question."""
    yield from each_entry(files, reading, _conversation)


def _conversation(entry: Data, place: str, _reading: ReadOptions) -> Iterator[Item]:
    if not isinstance(entry.get("conversations"), list):
        yield ImportProblem(place, "has no conversations")
        return
    left_out: Counter[LeftOut] = Counter()
    system = text_of(entry.get("system"))
    said = [message("system", system)] if system.strip() else []
    said += [made for turn in list_of(entry["conversations"]) for made in _message(object_of(turn), left_out)]
    messages, unanswered = answered(said)
    given = name_of(entry.get("id"))
    first = next((each for each in said if each.role == "user"), None)
    source_id = f"{given[:80]}/{digest([first])}" if given and first else digest(said)
    yield Sourced(source_id, place, messages, unanswered=unanswered, left_out=left_out)


def _message(turn: Data, left_out: Counter[LeftOut]) -> Iterator[Message]:
    speaker = (name_of(turn.get("from")) or name_of(turn.get("role")) or "").lower()
    text = text_of(turn.get("value")) or text_of(turn.get("content"))
    if speaker in TOOLS:
        left_out["tool messages"] += 1
    elif speaker not in ROLES:
        count_named(speaker or turn.get("type"), {**turn, "content": text}, left_out, ("from", "role", "type"))
    elif text.strip():
        yield message(ROLES[speaker], text)


SHAREGPT = ImportFormat("sharegpt", "ShareGPT", claims, read)
