"""What is embedded of conversations and memories, wherever they are stored."""

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from conversation_mcp.records.found import MemoryFacts
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.searching.vectors.pieces import GivenVector, PiecePart, TextPiece

VERSION = "1"
"""Begins every state: a change of what is embedded makes the vectors anew."""
CHUNK_CHARS = 1_000
"""About as much as small models read; what is longer becomes several pieces."""
CHUNKS = 8
"""The most pieces of a turn."""
QUESTION_CHARS = 200
GIVEN = "given"
"""The item of a vector that was given."""
PREVIOUS, FOLLOWING = 0.4, 0.2
"""How much the turns around a turn count in its vector, as measured."""


def turn_pieces(texts: Mapping[int, str]) -> list[TextPiece]:
    """Return the pieces of turns, by the numbers of their first messages. An item is the number and a chunk: `3.0`."""
    turns = [(number, _chunks(text)) for number, text in texts.items()]
    return [
        TextPiece(f"{number}.{part}", (PiecePart(chunk), *_around(turns, place)))
        for place, (number, chunks) in enumerate(turns)
        for part, chunk in enumerate(chunks)
    ]


def memory_pieces(memory: MemoryFacts) -> list[TextPiece]:
    """Return the vector that was given with a memory, if one was, and the parts of its text in order."""
    starts = range(0, len(memory.content), CHUNK_CHARS)
    parts = [
        TextPiece(str(part), (PiecePart(memory.content[at : at + CHUNK_CHARS]),)) for part, at in enumerate(starts)
    ]
    if (embedding := memory.embedding) is None:
        return parts
    with suppress(ValueError):
        numbers = b64decode(embedding["vector"], validate=True)
        return [TextPiece(GIVEN, (), GivenVector(embedding["model"], numbers)), *parts]
    return parts


def embedding_hash(memory: MemoryFacts) -> str | None:
    """Return a hash of the vector that was given with a memory, None without one."""
    return hash_of("\0".join(memory.embedding.values()).encode()) if memory.embedding else None


def memory_state(embedding: str | None) -> str:
    """Return the state of a text, by the hash of the vector that is given with it."""
    return f"{VERSION} {embedding}" if embedding else VERSION


def _around(turns: Sequence[tuple[int, Sequence[str]]], place: int) -> Iterator[PiecePart]:
    if place:
        yield PiecePart(turns[place - 1][1][0], PREVIOUS)
    if place + 1 < len(turns):
        yield PiecePart(turns[place + 1][1][0], FOLLOWING)


def _chunks(text: str) -> list[str]:
    """Cut a turn; each chunk after the first begins with the question again, without which it says little."""
    first, rest = text[:CHUNK_CHARS], text[CHUNK_CHARS:]
    question = text.partition("\n")[0][:QUESTION_CHARS]
    starts = range(0, len(rest), CHUNK_CHARS)[: CHUNKS - 1]
    return [first, *(f"{question}\n{rest[start : start + CHUNK_CHARS]}" for start in starts)]
