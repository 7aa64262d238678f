"""Memories in the tables: the conversations that have any are read and compared, without an index."""

from collections.abc import Iterable, Sequence

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.facts import describe
from conversation_mcp.records.found import SHOWN_PROBLEMS, FoundMemory, MemoryFacts, MemoryPage, WantedMemories
from conversation_mcp.records.memory_facts import is_wanted
from conversation_mcp.records.models import ConversationId
from conversation_mcp.searching.likeness import coverage, words_of
from conversation_mcp.searching.words import NO_WORDS

Body = tuple[str, bytes, str]
"""The id of a conversation, the bytes of its file, and where it is, for people."""


def memories_in(bodies: Iterable[Body], wanted: WantedMemories, limit: int, skip: int) -> MemoryPage:
    """Return the memories after the first `skip`: newest first, for a query by how many of its words they have."""
    found, problems = list[FoundMemory](), list[str]()
    for name, body, location in bodies:
        try:
            described = describe(body, location, ConversationId(name))
        except ConversationMCPError as error:
            problems.append(error.message)
            continue
        own = (each for each in described.memories if is_wanted(each, wanted))
        found += [FoundMemory(each, ConversationId(name), described.facts.title) for each in own]
    found.sort(key=lambda each: (each.memory.created_milliseconds, each.conversation_id), reverse=True)
    asked, notices = words_of(wanted.query), tuple[str, ...]()
    if asked:
        shares = {id(each): coverage(asked, words_of(_text(each.memory))) for each in found}
        matching = (each._replace(score=shares[id(each)]) for each in found if shares[id(each)])
        found = sorted(matching, key=lambda each: -each.score)
    elif wanted.query.strip():
        found, notices = [], (NO_WORDS,)
    once = _once(found)
    shown = tuple(once[skip : skip + limit])
    some = tuple(problems[:SHOWN_PROBLEMS])
    return MemoryPage(shown, len(once) > skip + limit, len(problems), some, notices=notices)


def _once(found: Sequence[FoundMemory]) -> list[FoundMemory]:
    first = dict[str, FoundMemory]()
    for each in found:
        first.setdefault(each.memory.memory_id, each)
    return list(first.values())


def _text(memory: MemoryFacts) -> str:
    return " ".join((memory.content, *memory.tags))
