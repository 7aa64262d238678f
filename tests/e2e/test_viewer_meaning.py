"""The search field of the viewer finds by meaning, too, where a model is set up."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.fixtures.library import MUCH_LATER, id_of
from tests.fixtures.numbered import Numbered
from tests.fixtures.stores import Clock
from tests.fixtures.vectors import OneEmbedder, WordModel, there
from tests.fixtures.viewing import visiting

from conversation_mcp.embeddings.meaning import Meaning
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.numbers import Floats


class Synonyms(WordModel):
    """Knows one pair of words for the same thing."""

    def embed_passages(self, texts: Sequence[str]) -> "Floats":
        return super().embed_passages([text.replace("dog", "hound") for text in texts])


@pytest.fixture
def shelf(meant_url: str) -> Numbered:
    shelf = Numbered(open_store(meant_url, Clock(MUCH_LATER), is_durable=False))
    shelf.put(0, "hound barks", "hound bites")
    shelf.put(1, "refunds", "nothing else")
    shelf.finder.refresh(Headway())
    return shelf


@pytest.fixture
def meaning(shelf: Numbered) -> Meaning:
    turns = there(shelf.finder.turns)
    meaning = Meaning(turns.vectors, OneEmbedder(Synonyms()))
    for _ in meaning.steps(turns.source):
        pass
    return meaning


async def test_a_search_finds_what_has_none_of_its_words_and_says_so(
    tmp_path: Path, meant_url: str, meaning: Meaning, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with visiting(tmp_path, store=meant_url) as visitor:
        await visitor.enter()
        assert "Nothing was found." in (await visitor.get("/?q=dog")).text
        monkeypatch.setattr(visitor.app.library, "_open_meaning", lambda: meaning)
        page = (await visitor.get("/?q=dog")).text
    assert f'href="/c/{id_of(0)}?at=1#m1"' in page
    assert f'data-id="{id_of(1)}"' not in page
    assert "Found by meaning alone, with none of the words" in page
