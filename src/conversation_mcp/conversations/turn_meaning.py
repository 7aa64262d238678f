"""The search for turns of conversations by their meaning."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conversation_mcp.embeddings.catalog import Embedders
    from conversation_mcp.embeddings.meaning import Meaning
    from conversation_mcp.searching.vectors.near import Neighbourhood
    from conversation_mcp.stores.finder import TextVectors

NEAR_TURNS = 1_000
"""How many turns take part in a ranking; filters are applied to their conversations."""


def open_meaning(open_embedders: "Callable[[], Embedders]", texts: "TextVectors | None") -> "Meaning | None":
    """Return what searches these texts by meaning, None if no model is chosen or the store knows no vectors."""
    if texts is None or (embedders := open_embedders()).chosen is None:
        return None
    from conversation_mcp.embeddings.meaning import Meaning

    return Meaning(texts.vectors, embedders)


def turns_near(meaning: "Meaning | None", query: str) -> "tuple[Neighbourhood | None, str | None]":
    """Return the turns near a query, and what a reader of the results must know."""
    if meaning is None or not query.strip():
        return None, None
    around = meaning.near(query, NEAR_TURNS)
    return around, meaning.notice
