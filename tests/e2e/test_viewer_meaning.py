"""The search field of the viewer finds by meaning, too, where a model is set up."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.fixtures.library import Shelf, id_of
from tests.fixtures.vectors import OneEmbedder, WordModel, there
from tests.fixtures.viewing import visiting

from conversation_mcp.embeddings.meaning import Meaning
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.numbers import Floats


class Synonyms(WordModel):
    """Knows one pair of words for the same thing."""

    def embed_passages(self, texts: Sequence[str]) -> "Floats":
        return super().embed_passages([text.replace("dog", "hound") for text in texts])


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path)
    shelf.put(0, "hound barks", "hound bites")
    shelf.put(1, "refunds", "nothing else")
    shelf.finder.refresh(Headway())
    return shelf


@pytest.fixture
def meaning(shelf: Shelf) -> Meaning:
    turns = there(shelf.finder.turns)
    meaning = Meaning(turns.vectors, OneEmbedder(Synonyms()))
    for _ in meaning.steps(turns.source):
        pass
    return meaning


async def test_a_search_finds_what_has_none_of_its_words_and_says_so(
    shelf: Shelf, meaning: Meaning, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with visiting(shelf.root.parent, logs_dir=shelf.root) as visitor:
        await visitor.enter()
        assert "Nothing was found." in (await visitor.get("/?q=dog")).text
        monkeypatch.setattr(visitor.app.library, "_open_meaning", lambda: meaning)
        page = (await visitor.get("/?q=dog")).text
    assert f'href="/c/{id_of(0)}?at=1#m1"' in page
    assert f'data-id="{id_of(1)}"' not in page
    assert "Found by meaning alone, with none of the words" in page
