"""A text that a model refuses costs no other text its vector."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.fixtures.vectors import Shelf, WordModel, build, found, index_in

from conversation_mcp.errors import EmbeddingsError
from conversation_mcp.searching.vectors.builder import Builder
from conversation_mcp.searching.vectors.index import VectorIndex
from conversation_mcp.searching.vectors.pieces import PiecePart, TextPiece

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.numbers import Floats

BAD = "bake it in a hot oven"
TEXTS = {
    "bread": {"1": "flour water salt yeast", "2": BAD},
    "boats": {"1": "sails and oars", "2": "flour of the sea"},
    "birds": {"1": "wings and feathers"},
}


class Refusing(WordModel):
    """Refuses some texts, in one of the ways that servers have."""

    def __init__(self, refuses: Callable[[Sequence[str]], bool], *, with_numbers: bool = False) -> None:
        super().__init__()
        self._refuses = refuses
        self._with_numbers = with_numbers

    def embed_passages(self, texts: Sequence[str]) -> "Floats":
        made = super().embed_passages(texts)
        if self._refuses(texts):
            if not self._with_numbers:
                error = EmbeddingsError("the server answered with status 500.")
                error.may_be_text = True
                raise error
            made[-1] *= float("nan")
        return made


def whole(index: VectorIndex) -> list[bool]:
    return [model.is_whole for model in index.models()]


@pytest.mark.parametrize("with_numbers", [False, True])
def test_all_other_texts_get_vectors_and_the_build_comes_to_its_end(tmp_path: Path, with_numbers: bool) -> None:
    index, shelf = index_in(tmp_path), Shelf(TEXTS)
    model = Refusing(lambda texts: BAD in texts, with_numbers=with_numbers)
    build(index, shelf, model)
    assert (index.count(model.name), whole(index)) == (4, [True])
    assert found(index, model, "wings", 1) == ["birds/1"]
    asked = len(model.texts)
    build(index, shelf, model)
    assert len(model.texts) == asked


def test_a_refused_text_that_has_changed_is_tried_again(tmp_path: Path) -> None:
    index, texts = index_in(tmp_path), {name: dict(items) for name, items in TEXTS.items()}
    model = Refusing(lambda texts: BAD in texts)
    build(index, Shelf(texts), model)
    texts["bread"]["2"] = "bake it slowly"
    build(index, Shelf(texts), model)
    assert index.count(model.name) == 5


def test_a_text_beside_a_refused_one_has_a_vector_without_it(tmp_path: Path) -> None:
    class Beside(Shelf):
        def pieces(self, group: str) -> Sequence[TextPiece]:
            return [TextPiece("1", (PiecePart("sails and oars"), PiecePart(BAD, 0.4)))] if group == "boats" else ()

    index, model = index_in(tmp_path), Refusing(lambda texts: BAD in texts)
    build(index, Beside({"boats": {"1": ""}}), model)
    assert found(index, model, "oars", 1) == ["boats/1"]


def test_a_model_that_was_away_for_a_moment_loses_no_text(tmp_path: Path) -> None:
    index, failures = index_in(tmp_path), iter([True] * 3)
    model = Refusing(lambda texts: BAD in texts and next(failures, False))
    build(index, Shelf(TEXTS), model)
    assert index.count(model.name) == 5


def test_a_model_that_takes_no_text_at_all_stops_the_build_after_a_few_tries(tmp_path: Path) -> None:
    index, calls = index_in(tmp_path), list[int]()
    shelf = Shelf({f"{number}": {"1": f"text {number}"} for number in range(40)})
    model = Refusing(lambda texts: not calls.append(len(texts)))
    with pytest.raises(EmbeddingsError, match="status 500"):
        for _ in Builder(index, shelf, model.maker()).steps():
            pass
    assert calls == [8, 4, 2, 1, 1]
    assert whole(index) == [False]
