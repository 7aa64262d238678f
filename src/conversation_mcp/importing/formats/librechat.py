"""LibreChat's export of a conversation: its messages as a list, or nested as a tree."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from conversation_mcp.importing.base import ImportFormat, ImportProblem, Item, LeftOut, ReadOptions, SourceFile
from conversation_mcp.importing.citations import Numbers, Pages
from conversation_mcp.importing.entries import each_entry
from conversation_mcp.importing.messages import (
    Data,
    count_named,
    count_tool,
    joined,
    list_of,
    message,
    missing,
    name_of,
    object_of,
    only_tools,
    text_of,
)
from conversation_mcp.importing.trees import Tree, path_to
from conversation_mcp.records.models import Message

THINKING = re.compile(r"\A:::thinking\n(.*?)\n:::[ \t]*(?:\n|\Z)", re.DOTALL)
"""The reasoning in the text of an answer, before the answer itself, as older versions keep it."""
# The signs of a mark are in the text as themselves or spelled out as escapes.
ANCHOR = re.compile(r"(?:\\ue202|\ue202)turn([0-9]{1,6})(search|image|news|video|ref|file)([0-9]{1,6})")
OTHER_MARKS = re.compile(r"\\ue20[01346]|[\ue200\ue201\ue203\ue204\ue206]")
FOUND_AS = {"search": "organic", "news": "topStories", "ref": "references", "image": "images", "video": "videos"}
TAKEN = frozenset(
    re.findall(
        r"\w+",
        """
        _id __v messageId conversationId parentMessageId overrideParentMessageId createdAt updatedAt sender text content
        children files attachments isCreatedByUser error unfinished isEdited model endpoint iconURL user spec
        finish_reason tokenCount promptTokens thread_id clientId
        """,
    )
)
"""Fields of a message that are read here, or hold no words of a conversation."""
ID_FIELDS = ("type", "messageId", "id")


def claims(_file: SourceFile, entry: object) -> bool:
    """Tell whether the entry has LibreChat's messages, in which a flag names the author."""
    facts = object_of(entry)
    if isinstance(facts.get("messagesTree"), list | dict):
        return True
    return "conversationId" in facts and any("isCreatedByUser" in object_of(each) for each in _top(facts))


def read(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Item]:
    """Yield the branch of each conversation that ends last and, if requested, the others."""
    yield from each_entry(files, reading, _conversation)


def _top(entry: Data) -> Sequence[object]:
    for name in ("messagesTree", "messages"):
        if isinstance(entry.get(name), dict):
            return [entry[name]]
        if list_of(entry.get(name)):
            return list_of(entry[name])
    return ()


def _conversation(entry: Data, place: str, reading: ReadOptions) -> Iterator[Item]:
    if "messages" not in entry and "messagesTree" not in entry:
        yield ImportProblem(place, "has no messages of LibreChat's")
        return
    nodes, parents = _flat(_top(entry))
    is_tree = any(parent in nodes for parent in parents.values())
    spoken = [name for name, node in nodes.items() if "isCreatedByUser" in node]
    options = object_of(entry.get("options"))
    system = text_of(options.get("promptPrefix"))
    model = name_of(options.get("model")) or name_of(entry.get("model"))

    def said(path: Sequence[str], left_out: Counter[LeftOut]) -> Sequence[Message]:
        made = [each for name in path for each in _messages(nodes[name], model, reading, left_out)]
        return [message("system", system), *made] if system.strip() and made else made

    times = [moment for node in nodes.values() if (moment := reading.moment(node.get("createdAt")))]
    tree = Tree(
        id=name_of(entry.get("conversationId")) or f"first {next(iter(nodes), '')}",
        place=place,
        parents=parents if is_tree else {},
        main=path_to((spoken or [*nodes])[-1], parents) if is_tree else tuple(nodes),
        said=said,
        title=name_of(entry.get("title")) or name_of(options.get("title")),
        created_at=reading.moment(entry.get("createdAt")) or min(times, default=None),
        updated_at=reading.moment(entry.get("updatedAt")) or max(times, default=None),
    )
    yield from tree.conversations(reading)


def _flat(top: Sequence[object]) -> tuple[Mapping[str, Data], Mapping[str, str | None]]:
    """Return the messages by name, parents before children, and the parent of each."""
    nodes: dict[str, Data] = {}
    parents: dict[str, str | None] = {}
    waiting = [(object_of(each), None) for each in reversed(top)]
    while waiting:
        said, above = waiting.pop()
        name = name_of(said.get("messageId")) or f"#{len(nodes)}"
        nodes[name] = said
        parents[name] = above or name_of(said.get("parentMessageId"))
        waiting += [(object_of(child), name) for child in reversed(list_of(said.get("children")))]
    return nodes, parents


def _messages(said: Data, model: str | None, reading: ReadOptions, left_out: Counter[LeftOut]) -> Iterator[Message]:
    is_question = said.get("isCreatedByUser") is True or str(said.get("sender")).lower() == "user"
    called: dict[str, None] = {}
    reasoning: list[str] = []
    names: list[str] = []
    text = joined(_parts(said, reasoning, called, names, left_out))
    if not text:
        text = text_of(said.get("text"))
    if not is_question and (hidden := THINKING.match(text)):
        reasoning.append(hidden[1].strip())
        text = text[hidden.end() :].lstrip("\n")
    if said.get("error") is True:
        count_named("error", {"text": text}, left_out)
        return
    for name, value in said.items():
        if name not in TAKEN:
            count_named(name, value, left_out)
    attachments = [object_of(each) for each in list_of(said.get("attachments"))]
    files = [*map(object_of, list_of(said.get("files"))), *(each for each in attachments if "web_search" not in each)]
    names += [name_of(file.get("filename")) or name_of(file.get("type")) or "a file without a name" for file in files]
    notices = missing(names, left_out)
    content, numbers = text or "\n".join(f"({notice})" for notice in notices), Numbers()
    at = reading.moment(said.get("createdAt"))
    if is_question and content:
        yield message("user", content, at, notices=notices)
    elif content:
        content = _cited(content, attachments, numbers, left_out)
        cut = ("the answer was cut off in the source",) if said.get("unfinished") is True else ()
        facts = {
            "model": name_of(said.get("model")) or model,
            "reasoning": joined(reasoning),
            "sources": tuple(numbers.sources.values()),
            "notices": (*notices, *cut),
        }
        yield message("assistant", content, at, **facts)
    elif called:
        yield only_tools(called, at)


def _parts(
    said: Data, reasoning: list[str], called: dict[str, None], names: list[str], left_out: Counter[LeftOut]
) -> Iterator[str]:
    """Yield the texts among the parts of an answer, and count the others."""
    for part in map(object_of, list_of(said.get("content"))):
        kind = name_of(part.get("type")) or ""
        value = part.get(kind)
        if kind == "text":
            yield text_of(value) or text_of(object_of(value).get("value"))
        elif kind == "think":
            reasoning.append(text_of(value) or text_of(object_of(value).get("value")))
        elif kind == "tool_call":
            call = object_of(value)
            name = name_of(call.get("name")) or name_of(object_of(call.get("function")).get("name")) or "without a name"
            called[name] = None
            count_tool(name, left_out)
        elif kind in {"image_file", "image_url"}:
            names.append(name_of(object_of(value).get("filename")) or kind)
        else:
            count_named(kind, part, left_out, ID_FIELDS)


def _cited(text: str, attachments: Sequence[Data], numbers: Numbers, left_out: Counter[LeftOut]) -> str:
    """Return the text with its anchors replaced by the numbers of the pages that searches found."""
    found: dict[tuple[int, str], Pages] = {}
    for search in (object_of(each.get("web_search")) for each in attachments):
        turn = search.get("turn")
        for kind, name in FOUND_AS.items():
            if isinstance(turn, int) and (pages := [_page(object_of(page)) for page in list_of(search.get(name))]):
                found[turn, kind] = pages

    def number(anchor: re.Match[str]) -> str:
        pages, place = found.get((int(anchor[1]), anchor[2]), []), int(anchor[3])
        if marks := numbers.marks([page for page in pages[place : place + 1] if page[0]]):
            return marks
        left_out["citation marks"] += 1
        return ""

    cited = OTHER_MARKS.sub("", ANCHOR.sub(number, text))
    for pages in found.values():
        numbers.marks([page for page in pages if page[0]])
    return cited


def _page(page: Data) -> tuple[str, str | None]:
    return name_of(page.get("link")) or name_of(page.get("url")) or "", name_of(page.get("title"))


LIBRECHAT = ImportFormat("librechat", "LibreChat's export", claims, read)
