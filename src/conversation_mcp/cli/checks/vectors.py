"""The check of the vectors of conversations and memories: how many there are, and how many are left to make."""

from collections.abc import Iterable
from functools import cache, partial

from conversation_mcp.cli.setup import finder_of
from conversation_mcp.conversations.turn_meaning import open_meaning
from conversation_mcp.embeddings.catalog import OFF
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.providers.embedders import embedders_in
from conversation_mcp.records.findings import Finding
from conversation_mcp.settings import Settings
from conversation_mcp.stores.catalog import without_meaning
from conversation_mcp.stores.finder import TextVectors

LEFT = "; the next server makes the others, or conversation-mcp index --meaning"


def check_vectors(settings: Settings) -> Iterable[Finding]:
    """Count the vectors without making any; says nothing where nobody has searched by meaning yet, but could."""
    if settings.embeddings != OFF and (missing := without_meaning(settings.store_url)):
        yield Finding("warn", missing)
    finder, embedders = finder_of(settings), cache(partial(embedders_in, settings))
    for what, texts in (("conversations", finder.turns), ("memories", finder.remembered)):
        if texts is None or not texts.vectors.models() or (meaning := open_meaning(embedders, texts)) is None:
            continue
        try:
            headway = meaning.headway(texts.source)
        except ConversationMCPError as error:
            yield Finding("warn", error.sentence())
            continue
        made = f"{headway.done:,} of {headway.total:,} {what} have their vectors ({_size(texts)})"
        more = LEFT if headway.done < headway.total else ""
        yield Finding("ok", f"found by meaning with {meaning.name}: {made}{more}")


def _size(texts: TextVectors) -> str:
    return f"{texts.vectors.size_bytes() / 1_000_000:,.1f} MB"
