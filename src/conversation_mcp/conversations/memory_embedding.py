"""Vectors that are given with memories, checked and brought into the form in which they are kept."""

from base64 import b64encode
from collections.abc import Sequence
from math import fsum, isfinite, sqrt
from struct import pack
from typing import TYPE_CHECKING

from conversation_mcp.errors import Argument, EmbeddingsError, InvalidInputError
from conversation_mcp.records.memories import MemoryEmbedding
from conversation_mcp.records.memory_ids import same_text

if TYPE_CHECKING:
    from conversation_mcp.conversations.memory_meaning import MemoryMeaning

EMBEDDING = Argument("embedding")
NO_VECTORS = " cannot be kept, because the store finds memories by their words alone. Leave it out."
NO_MODEL = (
    " cannot be kept, because memories are found by their words alone. Leave it out, or set "
    "CONVERSATION_MCP_EMBEDDINGS to the model that it is of."
)


def embedding_of(
    numbers: Sequence[object], text: str, meaning: "MemoryMeaning | None", *, knows_vectors: bool
) -> MemoryEmbedding:
    """Return the vector of a text as a memory keeps it, with the length 1. It blocks.

    Raises:
        InvalidInputError: it is no vector of the model that serves, there is no model, or the store knows no vectors.
        EmbeddingsError: the server of the model did not say how long its vectors are.
    """
    if meaning is None:
        raise InvalidInputError(EMBEDDING, NO_MODEL if knows_vectors else NO_VECTORS)
    try:
        dimensions = meaning.dimensions
    except EmbeddingsError as error:
        message = f"embedding cannot be checked, because {meaning.model} does not say now how long its vectors are. "
        raise EmbeddingsError(f"{message}Leave it out, or try again later.") from error
    if wrong := _wrong_with(numbers, dimensions):
        expected = f" must be a vector of {meaning.model}: {dimensions:,} finite numbers that are not all 0; "
        raise InvalidInputError(EMBEDDING, expected, wrong, ".")
    return MemoryEmbedding(model=meaning.model, text_hash=same_text(text), vector=_encoded(list(map(_float, numbers))))


def _wrong_with(numbers: Sequence[object], dimensions: int) -> str | None:
    if len(numbers) != dimensions:
        return f"it has {len(numbers):,}"
    for place, number in enumerate(numbers, 1):
        if not isfinite(_float(number)):
            return f"item {place:,} is not a finite number"
    return None if any(numbers) else "all are 0"


def _float(number: object) -> float:
    """Return a number as a float, NaN for anything else: to Python, a flag is a number."""
    if not isinstance(number, int | float) or isinstance(number, bool):
        return float("nan")
    try:
        return float(number)
    except OverflowError:
        return float("inf")


def _encoded(numbers: Sequence[float]) -> str:
    # Divided by the largest first, because squares may be too large or too small.
    largest = max(map(abs, numbers))
    scaled = [number / largest for number in numbers]
    length = sqrt(fsum(number * number for number in scaled))
    return b64encode(pack(f"<{len(scaled)}f", *(number / length for number in scaled))).decode()
