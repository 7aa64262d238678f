"""Google's Takeout of Gemini: the activity of Gemini Apps as JSON or HTML, and conversations in files of their own."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from conversation_mcp.importing.base import (
    ImportFormat,
    ImportProblem,
    Item,
    LeftOut,
    ReadOptions,
    Sourced,
    SourceFile,
    Unplaced,
)
from conversation_mcp.importing.entries import UNREADABLE, each_object
from conversation_mcp.importing.formats.gemini_pages import ATTACHED, is_activity, records_of
from conversation_mcp.importing.formats.gemini_turns import conversation
from conversation_mcp.importing.html_markdown import markdown_of
from conversation_mcp.importing.messages import (
    Data,
    answered,
    count_named,
    list_of,
    message,
    missing,
    name_of,
    object_of,
    text_of,
)
from conversation_mcp.records.models import Message

PRODUCT = re.compile(r"\b(?:gemini|bard)\b", re.IGNORECASE)
ASKED = re.compile(
    r"(?:prompted with:|prompted|asked gemini:|asked bard:|asked|said|branched|answered|fez uma pergunta:|perguntou:"
    r"|preguntó:|prompt eingegeben:)[\s\u00a0]+",
    re.IGNORECASE,
)
"""The words before the question in the title of a record."""
CHAT = re.compile(r"https://gemini\.google\.com/(?:u/\d+/)?app/([\w-]+)")
NAMING = ("header", "products", "activityControls", "type", "content_type")
TAKEN = frozenset(
    {"header", "title", "titleUrl", "time", "products", "activityControls", "safeHtmlItem", "subtitles", "imageFile"}
)


@dataclass(frozen=True)
class _Record:
    """A question with its answers, of which the last one was shown."""

    place: str
    question: Message
    answers: tuple[Message, ...]
    at: datetime | None
    left_out: Counter[LeftOut]


def claims(file: SourceFile, entry: object) -> bool:
    """Tell whether the entry is a record of activity or a conversation with turns, or the file an activity page."""
    facts = object_of(entry)
    if "conversation_turns" in facts or entry is None:
        return "conversation_turns" in facts or is_activity(file)
    return "title" in facts and _is_gemini(facts)


def _is_gemini(facts: Data) -> bool:
    labels = (facts.get("header"), *list_of(facts.get("products")))
    return any(PRODUCT.search(label) for label in labels if isinstance(label, str))


def read(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Item]:
    """Yield a conversation for each record, or for all records of one chat, then the counts of what was no question."""
    chats: dict[str, dict[str, _Record]] = {}
    others: Counter[LeftOut] = Counter()
    for file in files:
        for entry in _entries(file, reading):
            if isinstance(entry, ImportProblem):
                yield entry
            elif "conversation_turns" in entry[1]:
                yield from conversation(entry[1], entry[0], reading)
            elif (record := _record(*entry, reading, others)) is not None:
                chat = next(filter(None, map(_chat, _addresses(entry[1]))), None)
                if chat:
                    chats.setdefault(chat, {}).setdefault(_id(record), record)
                else:
                    yield from _found(_id(record), [record], reading)
    for chat, records in chats.items():
        # The export has the newest first. Turned round as a whole, records of the same second are in order, too.
        newest_first = sorted(records.values(), key=lambda each: each.at or reading.now, reverse=True)
        yield from _found(chat, newest_first[::-1], reading)
    if others:
        yield Unplaced(others)


def _entries(file: SourceFile, reading: ReadOptions) -> Iterator[tuple[str, Data] | ImportProblem]:
    if not file.name.lower().endswith((".html", ".htm")):
        for entry in each_object([file], reading):
            yield entry if isinstance(entry, ImportProblem) else (entry.place, entry.value)
        return
    try:
        yield from records_of(file, reading.on_read)
    except UNREADABLE as error:
        yield ImportProblem(file.name, f"cannot be read: {error}")


def _record(place: str, facts: Data, reading: ReadOptions, others: Counter[LeftOut]) -> _Record | None:
    """Return the question and its answers; a record without a question is counted by its first words."""
    title, at = text_of(facts.get("title")).strip(), reading.moment(facts.get("time"))
    if not _is_gemini(facts):
        count_named(facts.get("header") or facts.get("type"), {**facts, "text": title}, others, NAMING)
        return None
    left_out: Counter[LeftOut] = Counter()
    items = facts.get("safeHtmlItem")
    pages = [object_of(item) for item in list_of(items) or (items,)]
    texts = [markdown_of(text_of(page.get("html")) or text_of(page.get("htmlValue"))) for page in pages]
    for page, text in zip(pages, texts, strict=True):
        if not text:
            count_named(page.get("type") or "safeHtmlItem", page, left_out, NAMING)
    verb = ASKED.match(title)
    asked = title[verb.end() :].strip() if verb else title
    if not any(texts) and verb is None:
        count_named(" ".join(title.split()[:2]) or "without a title", {"text": title}, others)
        return None
    notices = missing(_files(facts, left_out), left_out)
    question = message("user", asked or "\n".join(f"({notice})" for notice in notices), at, notices=notices)
    for name, value in facts.items():
        if name not in TAKEN:
            count_named(name, value, left_out)
    answers = tuple(message("assistant", text, at) for text in texts if text)
    return _Record(place, question, answers, at, left_out)


def _files(facts: Data, left_out: Counter[LeftOut]) -> list[str]:
    """Return the names of attachments, which are listed below the title."""
    names: list[str] = []
    for line in map(object_of, list_of(facts.get("subtitles"))):
        name, address = text_of(line.get("name")).strip(), text_of(line.get("url"))
        if address and "://" not in address:
            names.append(name.lstrip("-\u00a0 ") or address)
        elif not ATTACHED.fullmatch(name):
            count_named("subtitles", line, left_out)
    picture = name_of(facts.get("imageFile"))
    return names or ([picture] if picture else [])


def _addresses(facts: Data) -> Iterator[str]:
    yield text_of(facts.get("titleUrl"))
    for line in list_of(facts.get("subtitles")):
        yield text_of(object_of(line).get("url"))


def _chat(address: str) -> str | None:
    found = CHAT.match(address)
    return found[1] if found else None


def _id(record: _Record) -> str:
    """Return the key of a record, which is the same in JSON and HTML: its time in seconds, and its question."""
    words = "".join(record.question.content.split())
    second = int(record.at.timestamp()) if record.at else "undated"
    return f"{second}/{sha256(words.encode()).hexdigest()[:12]}"


def _found(source_id: str, records: Sequence[_Record], reading: ReadOptions) -> Iterator[Sourced]:
    """Yield the conversation with the last answer to each question, then, if requested, those with earlier ones."""

    def of(answers: Callable[[_Record], Sequence[Message]], records: Sequence[_Record], name: str) -> Sourced:
        said = [each for record in records for each in (record.question, *answers(record))]
        messages, unanswered = answered(said)
        left_out: Counter[LeftOut] = Counter()
        for record in records:
            left_out.update(record.left_out)
        return Sourced(
            id=name,
            place=records[0].place,
            messages=messages,
            created_at=records[0].at,
            updated_at=records[-1].at,
            unanswered=unanswered,
            branch_of=None if name == source_id else source_id,
            left_out=left_out,
        )

    main = of(lambda record: record.answers[-1:], records, source_id)
    if not reading.all_branches:
        main.left_out["other branches"] += sum(len(record.answers[:-1]) for record in records)
    yield main
    for place, record in enumerate(records) if reading.all_branches else ():
        for number, answer in enumerate(record.answers[:-1]):
            path = records[: place + 1]

            def other(each: _Record, last: _Record = record, answer: Message = answer) -> Sequence[Message]:
                return (answer,) if each is last else each.answers[-1:]

            yield of(other, path, f"{source_id}/{place}.{number}")


GEMINI = ImportFormat("gemini-takeout", "Google's Takeout of Gemini", claims, read)
