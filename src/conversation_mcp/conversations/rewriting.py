"""Rewriting of all texts of a conversation, such as without what must not be stored or passed on."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar, cast

from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import Conversation
from conversation_mcp.records.record import Record
from conversation_mcp.records.transcript import contents_named_in
from conversation_mcp.redacting.texts import CountedTexts

HASH_FIELDS = frozenset({"sha256", "text", "shown"})
STAY_FIELDS = frozenset(
    {"conversationId", "memoryId", "responseId", "createdAt", "updatedAt", "startedAt", "endedAt", "imported"}
)
"""Fields that what is stored is found by."""
PATH_FIELDS = frozenset({"path", "files", "images", "checked"})
"""Fields whose texts are paths; those of workflow steps are lists of them."""
R = TypeVar("R", bound=Record)
KeptContents = Mapping[str, bytes]
"""What the questions of a conversation name, by hash, as far as it is kept."""


class Rewriting(NamedTuple):
    """How the fields of a record are rewritten."""

    text: Callable[[str], str]
    fields: Mapping[str, Callable[[Any], object]] = {}
    """Those that are rewritten otherwise, by name."""
    dropped: frozenset[str] = frozenset()
    path: Callable[[str], str] = str
    """What becomes of a path."""

    def value(self, value: object) -> Any:  # noqa: ANN401 -- JSON of whatever shape
        """Return a value, rewritten."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            items = cast("Mapping[str, object]", value).items()
            return {self.text(name): self._field(name, item) for name, item in items if name not in self.dropped}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in cast("list[object]", value)]
        return value

    def _field(self, name: str, value: object) -> object:
        if (rewrite := self.fields.get(name)) is not None:
            return rewrite(value)
        if name in PATH_FIELDS and isinstance(value, str):
            return self.path(value)
        if name in PATH_FIELDS and isinstance(value, list | tuple):
            items = cast("list[object]", value)
            return [self.path(item) if isinstance(item, str) else self.value(item) for item in items]
        return self.value(value)


def rewritten(
    conversation: Conversation, contents: KeptContents, rewriting: Rewriting
) -> tuple[Conversation, KeptContents]:
    """Return both rewritten. A content that has changed gets another hash; one that is not text stays.

    A file of another format, such as a PDF, whose text has changed is kept as that text alone.
    """
    changed = {
        name: rewriting.text(data.decode()).encode() if is_text(data) else data for name, data in contents.items()
    }
    hashes = {name: hash_of(data) for name, data in changed.items()}
    data = rewriting.value(conversation.data())
    originals: set[str] = set()
    for question in (*data["messages"], *_turns(data)):
        for named in (*(question.get("files") or ()), *(question.get("images") or ())):
            if (text := named.get("text")) in hashes and hashes[text] != text:
                originals.add(named.get("sha256"))
                _keep_text_alone(named)
            _rename(named, hashes, changed)
    shown = Conversation.model_validate(data, by_alias=True, by_name=False)
    if shown.memories:  # the vector of a text tells what was in it
        shown = shown.changed(memories=tuple(memory.with_own_embedding() for memory in shown.memories))
    gone = originals - set(contents_named_in(shown))
    return shown, {hashes[name]: data for name, data in changed.items() if name not in gone}


def cleaned(
    conversation: Conversation, contents: KeptContents, clean: CountedTexts
) -> tuple[Conversation, KeptContents]:
    """Return both redacted; ids, times and paths stay."""
    if conversation.memories:  # an id that is made from the text must not change with it
        memories = tuple(memory.model_copy(update={"memory_id": memory.id}) for memory in conversation.memories)
        conversation = conversation.changed(memories=memories)
    return rewritten(conversation, contents, _cleaning(clean))


def cleaned_record(record: R, clean: CountedTexts) -> R:
    """Return a record redacted, such as a message; ids, times and paths stay."""
    return type(record).model_validate(_cleaning(clean).value(record.data()), by_alias=True, by_name=False)


def is_text(data: bytes) -> bool:
    """Tell whether the bytes are text in UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _cleaning(clean: CountedTexts) -> Rewriting:
    special: Mapping[str, Callable[[Any], object]] = {"metadata": clean.data, "clientMessageId": clean.name}
    return Rewriting(clean.text, {**dict.fromkeys(STAY_FIELDS, _same), **special})


def _same(value: object) -> object:
    return value


def _turns(data: Mapping[str, Any]) -> list[Any]:
    pending = data.get("pendingTurn")
    return [*(data.get("unansweredTurns") or ()), *([pending] if pending else [])]


def _keep_text_alone(named: dict[str, Any]) -> None:
    """Let a file of another format name its text, as if that had been the file."""
    named["sha256"] = named.pop("text")
    named.pop("asPdf", None)
    named.pop("pages", None)


def _rename(named: dict[str, Any], hashes: Mapping[str, str], contents: KeptContents) -> None:
    """Let a file or image name the rewritten contents."""
    if (name := str(named.get("sha256"))) in contents:
        named["bytes"] = len(contents[name])
    for field in HASH_FIELDS & named.keys():
        named[field] = hashes.get(named[field], named[field])
