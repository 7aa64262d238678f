"""Notes of basic-memory: Markdown with a head, observations with a category, and relations to other notes."""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

from conversation_mcp.importing.base import ImportFormat, ImportProblem, Item, ReadOptions, Sourced, SourceFile
from conversation_mcp.importing.entries import UNREADABLE
from conversation_mcp.importing.remembered import memory, once
from conversation_mcp.records.memories import Memory

ENDING = ".md"
HEAD = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
KEY = re.compile(r"([A-Za-z_][\w-]*):[ \t]*(.*)")
ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
OBSERVATION = re.compile(r"[ \t]*[-*][ \t]+\[([^\[\]()\n]{2,60})\][ \t]+(\S.*)")
"""A list item that begins with a category; a box to tick has one character."""
RELATION = re.compile(r"[ \t]*[-*][ \t]+([^\[\n]{0,100}?)[ \t]*\[\[([^\[\]\n]+)\]\]")
HASHTAG = re.compile(r"(?<!\S)#([\w/-]+)")
HEADING = re.compile(r"#{1,6}[ \t]")
HEAD_BYTES, MAX_BYTES = 8_192, 4 * 1024 * 1024
NOTE_CHARS = 8_000


class NoteHead(NamedTuple):
    """The head of a note: its keys, and its tags."""

    keys: dict[str, str]
    tags: tuple[str, ...]


def claims(file: SourceFile, entry: object) -> bool:
    """Tell whether the file is a note with a permanent link in its head."""
    del entry
    if not file.name.lower().endswith(ENDING):
        return False
    with closing(file.open()) as opened:
        found = HEAD.match(opened.read(HEAD_BYTES).decode("utf-8", "replace"))
    return found is not None and "permalink" in _head(found[1]).keys


def read(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Item]:
    """Yield a conversation for each note, with its observations, relations and the rest of its text as memories."""
    for file in files:
        reading.on_read(file.size)
        try:
            yield _note(file, reading)
        except UNREADABLE as error:
            yield ImportProblem(file.name, f"cannot be read: {error}")


def _note(file: SourceFile, reading: ReadOptions) -> Item:
    if file.size > MAX_BYTES:
        return ImportProblem(file.name, "is too large for a note")
    with closing(file.open()) as opened:
        data = opened.read(MAX_BYTES)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ImportProblem(file.name, "is not text in UTF-8")
    found = HEAD.match(text)
    head = _head(found[1]) if found else NoteHead({}, ())
    title = head.keys.get("title") or file.name.rpartition("/")[2].removesuffix(ENDING)
    return Sourced(
        id=head.keys.get("permalink") or file.name,
        place=file.name,
        messages=(),
        title=title,
        created_at=reading.moment(head.keys.get("created")),
        updated_at=reading.moment(head.keys.get("modified")),
        memories=once(_memories(title, head.tags, text[found.end() :] if found else text)),
    )


def _memories(title: str, tags: Sequence[str], body: str) -> Iterator[Memory]:
    rest: list[str] = []
    for line in body.splitlines():
        if said := OBSERVATION.match(line):
            yield memory(f"{title}: {said[2]}", (said[1], *HASHTAG.findall(said[2]), *tags), {"note": title})
        elif related := RELATION.match(line):
            kind = related[1].strip().replace("_", " ") or "relates to"
            yield memory(f"{title} {kind} {related[2]}", (*tags,), {"note": title, "to": related[2]})
        else:
            rest.append(line)
    yield from _said(title, tags, rest)


def _said(title: str, tags: Sequence[str], lines: Sequence[str]) -> Iterator[Memory]:
    """Yield the text that is neither an observation nor a relation, in parts, unless it is headings alone."""
    part: list[str] = []
    for line in (*lines, None):
        if line is None or sum(map(len, part)) + len(line) > NOTE_CHARS:
            text = "\n".join(part).strip()
            if any(each.strip() and not HEADING.match(each) for each in part):
                yield memory(f"{title}\n\n{text}", tags, {"note": title})
            part = []
        part.append(line or "")


def _head(text: str) -> NoteHead:
    """Read the keys with one value, and the tags in either form; what is more than that is not needed here."""
    keys: dict[str, str] = {}
    tags: list[str] = []
    last = ""
    for line in text.splitlines():
        if (item := ITEM.match(line)) and last == "tags":
            tags.append(_bare(item[1]))
        elif found := KEY.match(line):
            last, value = found[1].lower(), _bare(found[2])
            keys.setdefault(last, value)
    if given := keys.pop("tags", ""):
        tags += [_bare(tag) for tag in given.strip("[]").split(",")]
    return NoteHead(keys, tuple(tag.removeprefix("#") for tag in tags if tag))


def _bare(value: str) -> str:
    text = value.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


BASIC_MEMORY = ImportFormat("basic-memory", "basic-memory's notes", claims, read)
