"""The search for memories by their meaning, and the vectors of those that were just stored."""

from base64 import b64decode
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from conversation_mcp.embeddings.catalog import Embedders
    from conversation_mcp.embeddings.meaning import Meaning
    from conversation_mcp.records.memories import MemoryEmbedding
    from conversation_mcp.stores.finder import Finder, TextVectors

NEAR_PIECES = 100
"""How many pieces of texts take part in a ranking."""


class NearText(NamedTuple):
    """How near a text is to a question."""

    similarity: float
    """As a cosine, at most 1."""
    nearness: float
    """How many standard deviations it is nearer than usual."""


class NearTexts(NamedTuple):
    """The texts near a question by their hash, nearest first."""

    texts: dict[str, NearText]
    notice: str | None = None
    """What a reader of the results must know."""


class MemoryMeaning:
    """Finds memories by their meaning; finds nothing before there are vectors. Every call blocks."""

    def __init__(self, meaning: "Meaning", texts: "TextVectors") -> None:
        self._meaning = meaning
        self._source = texts.source

    @property
    def model(self) -> str:
        """The name of the model that serves."""
        return self._meaning.name

    @property
    def dimensions(self) -> int:
        """The length of its vectors. Raises EmbeddingsError if its server does not tell."""
        return self._meaning.dimensions

    def near(
        self, text: str, within: Collection[str] | None = None, embedding: "MemoryEmbedding | None" = None
    ) -> NearTexts:
        """Return the texts near this one, of all memories or of those with these hashes.

        If the vector of the text is given, the text is sent to no server.
        """
        given = b64decode(embedding.vector) if embedding else None
        around = self._meaning.near(text, NEAR_PIECES, within, given)
        texts: dict[str, NearText] = {}
        for near in around.found if around else ():
            # The numbers are kept rounded, so that the cosine may come out a little larger.
            similarity = round(min(near.similarity, 1.0), 3)
            texts.setdefault(near.group, NearText(similarity, around.nearness(near.similarity) if around else 0.0))
        return NearTexts(texts, self._meaning.notice)

    def take_in(self, same_text: str, *, is_given: bool) -> int | None:
        """Make the vector of a text that a memory has now, and return its length; None if that is left for later."""
        return self._meaning.make_now(self._source, same_text, is_given=is_given)


def open_memory_meaning(open_embedders: "Callable[[], Embedders]", finder: "Finder") -> MemoryMeaning | None:
    """Return what finds memories by meaning, None if no model is chosen or the store knows no vectors."""
    from conversation_mcp.conversations.turn_meaning import open_meaning

    texts = finder.remembered
    meaning = open_meaning(open_embedders, texts)
    return MemoryMeaning(meaning, texts) if meaning and texts else None
