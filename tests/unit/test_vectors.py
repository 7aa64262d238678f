"""An index of vectors finds what is near, follows its texts, and keeps nothing of those that are gone."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.fixtures.vectors import DIMENSIONS, Shelf, WordModel, build, found, index_in

from conversation_mcp.errors import EmbeddingsError
from conversation_mcp.searching.vectors.builder import FEW, Builder
from conversation_mcp.searching.vectors.pieces import PiecePart, TextPiece, digest_of

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.numbers import Floats

TEXTS = {
    "bread": {"1": "flour water salt yeast", "2": "bake it in a hot oven"},
    "boats": {"1": "sails and oars", "2": "flour of the sea"},
}


def shelf() -> Shelf:
    return Shelf({name: dict(texts) for name, texts in TEXTS.items()})


def files(folder: Path) -> list[Path]:
    return sorted((folder / "vectors").rglob("index.db*"))


def bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in files(folder))


def numbers_of(model: WordModel, text: str) -> bytes:
    from conversation_mcp.searching.vectors.numbers import packed

    return next(packed(model.embed_passages([text]))).numbers


def test_the_nearest_piece_comes_first(tmp_path: Path) -> None:
    index, model = index_in(tmp_path), WordModel()
    build(index, shelf(), model)
    assert found(index, model, "flour water", 2) == ["bread/1", "boats/2"]
    assert found(index, model, "oars sails", 1) == ["boats/1"]


def test_a_search_can_be_kept_within_groups(tmp_path: Path) -> None:
    index, model = index_in(tmp_path), WordModel()
    build(index, shelf(), model)
    assert found(index, model, "flour water salt", within=["boats", "unknown"]) == ["boats/2", "boats/1"]
    assert found(index, model, "flour", within=[]) == []


def test_how_similar_known_pieces_are_is_told_wherever_they_are(tmp_path: Path) -> None:
    index, model, texts = index_in(tmp_path), WordModel(), shelf()
    build(index, texts, model)
    query = model.embed_queries(["flour"])[0]
    around = index.nearest(model.name, query, 1)
    every = {digest_of(piece): piece for group in texts for piece in texts.pieces(group)}
    similar = around.similar([*every, b"unknown"])
    assert similar.keys() == every.keys()
    for digest, piece in every.items():
        own = model.embed_passages([piece.parts[0].text])[0]
        assert similar[digest] == pytest.approx(float(own @ query), abs=0.02)
    assert index.nearest(model.name, query[1:], 1).similar(every) == {}
    assert index.nearest("other", query, 1).similar(every) == {}
    assert around.similar(()) == {}


def test_there_is_nothing_to_find_before_anything_was_made(tmp_path: Path) -> None:
    index, model = index_in(tmp_path), WordModel()
    assert found(index, model, "flour") == []
    assert index.models() == []
    assert files(tmp_path) == []


def test_only_what_is_new_or_changed_is_given_to_the_model(tmp_path: Path) -> None:
    index, model, texts = index_in(tmp_path), WordModel(), shelf()
    build(index, texts, model)
    model.texts.clear()
    texts["bread"]["1"] = "rye flour"
    texts["kites"] = {"1": "paper and string"}
    build(index, texts, model)
    assert model.texts == ["rye flour", "paper and string"]
    assert found(index, model, "rye", 1) == ["bread/1"]
    assert found(index, model, "salt yeast", 1) != ["bread/1"]


def test_texts_that_move_keep_their_vectors(tmp_path: Path) -> None:
    index, model, texts = index_in(tmp_path), WordModel(), shelf()
    build(index, texts, model)
    model.texts.clear()
    texts["loaves"] = {"0": "something new", **texts["bread"]}
    build(index, texts, model)
    del texts["bread"]
    build(index, texts, model)
    assert model.texts == ["something new"]
    assert found(index, model, "salt yeast", 1) == ["loaves/1"]


def test_the_vectors_of_what_is_gone_are_gone_from_the_bytes(tmp_path: Path) -> None:
    index, model, texts = index_in(tmp_path), WordModel(), shelf()
    build(index, texts, model)
    traces = [numbers_of(model, text) for text in texts["bread"].values()]
    kept = numbers_of(model, texts["boats"]["1"])
    assert all(trace in bytes_in(tmp_path) for trace in (*traces, kept))
    del texts["bread"]
    index.forget(["bread"])
    assert not any(trace in bytes_in(tmp_path) for trace in traces)
    assert kept in bytes_in(tmp_path)
    assert sorted(found(index, model, "salt yeast")) == ["boats/1", "boats/2"]


def test_what_is_deleted_while_it_is_read_gets_no_vector(tmp_path: Path) -> None:
    index, model, texts = index_in(tmp_path), WordModel(), shelf()

    def embed_and_delete(asked: list[str]) -> object:
        texts.pop("bread", None)
        index.forget(["bread"])
        return WordModel.embed_passages(model, asked)

    maker = model.maker()._replace(embed=embed_and_delete)  # pyright: ignore[reportArgumentType] -- the same at run time
    for _ in Builder(index, texts, maker).steps():
        pass
    assert found(index, model, "flour water salt yeast") == ["boats/2", "boats/1"]
    assert numbers_of(model, TEXTS["bread"]["1"]) not in bytes_in(tmp_path)


def test_work_that_was_stopped_goes_on_where_it_ended(tmp_path: Path) -> None:
    model = WordModel()
    texts = Shelf({f"group {n}": {str(item): f"text {n} {item}" for item in range(3)} for n in range(20)})
    for _, _ in zip(range(10), Builder(index_in(tmp_path), texts, model.maker()).steps(), strict=False):
        pass
    begun = len(model.texts)
    assert 0 < begun < 60
    index = index_in(tmp_path)
    assert not index.models()[0].is_whole
    build(index, texts, model)
    assert len(model.texts) <= 60 + 3
    assert index.count(model.name) == 60
    assert index.models()[0].is_whole


def test_texts_of_many_small_groups_are_given_to_the_model_together(tmp_path: Path) -> None:
    model, calls = WordModel(), list[int]()
    texts = Shelf({f"group {n}": {"0": f"text {n}"} for n in range(20)})

    def embed(some: Sequence[str]) -> "Floats":
        calls.append(len(some))
        return model.embed_passages(some)

    headways = [step.done for step in Builder(index_in(tmp_path), texts, model.maker()._replace(embed=embed)).steps()]
    assert calls == [8, 8, 4]
    assert headways == sorted(headways)
    assert headways[-1] == index_in(tmp_path).count("words") == 20


@pytest.mark.slow
def test_a_group_that_is_taken_in_at_once_does_not_go_through_many_others(tmp_path: Path) -> None:
    model, index, gone_through = WordModel(), index_in(tmp_path), list[str]()

    class Counted(Shelf):
        def groups(self) -> Iterator[tuple[str, str]]:
            for name, state in super().groups():
                gone_through.append(name)
                yield name, state

    few = Counted({"new": {"0": "flour water"}})
    Builder(index, few, model.maker()).take_in("new")
    assert (found(index, model, "flour", 1), gone_through) == (["new/0"], ["new"])
    many = Counted({"much": {str(number): f"text {number}" for number in range(FEW)}, "new": {"0": "salt"}, "old": {}})
    other = WordModel("another")
    for name in ("much", "new"):
        gone_through.clear()
        Builder(index, many, other.maker()).take_in(name)
        assert len(gone_through) == (3 if name == "much" else 0)


def test_two_processes_do_not_do_the_work_twice(tmp_path: Path) -> None:
    model, texts = WordModel(), shelf()
    steps = Builder(index_in(tmp_path), texts, model.maker()).steps()
    next(steps)
    assert build(index_in(tmp_path), texts, model).is_elsewhere
    assert model.texts == []
    for _ in steps:
        pass
    assert not build(index_in(tmp_path), texts, model).is_elsewhere
    assert len(model.texts) == 4


def test_another_model_is_made_beside_the_old_one_which_serves_until_it_is_whole(tmp_path: Path) -> None:
    index, old, new, texts = index_in(tmp_path), WordModel("old"), WordModel("new", 40), shelf()
    build(index, texts, old)
    steps = Builder(index, texts, new.maker()).steps()
    for _ in range(3):
        next(steps)
    assert [(model.name, model.is_whole) for model in index.models()] == [("new", False), ("old", True)]
    assert found(index, old, "flour water", 1) == ["bread/1"]
    for _ in steps:
        pass
    assert [(model.name, model.is_whole) for model in index.models()] == [("new", True)]
    assert found(index, old, "flour water") == []
    assert found(index, new, "flour water", 1) == ["bread/1"]


def test_others_see_what_one_process_writes(tmp_path: Path) -> None:
    writer, reader, model, texts = index_in(tmp_path), index_in(tmp_path), WordModel(), shelf()
    build(writer, texts, model)
    assert found(reader, model, "paper kite", 1) != ["kites/1"]
    texts["kites"] = {"1": "paper kite"}
    build(writer, texts, model)
    assert found(reader, model, "paper kite", 1) == ["kites/1"]
    writer.forget(["kites"])
    assert "kites/1" not in found(reader, model, "paper kite")


@pytest.mark.parametrize("damage", [b"", b"not a database", b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_damaged_file_is_made_anew_and_never_an_error_of_a_search(tmp_path: Path, damage: bytes) -> None:
    index, model, texts = index_in(tmp_path), WordModel(), shelf()
    build(index, texts, model)
    for path in files(tmp_path):
        path.write_bytes(damage)
    assert found(index, model, "flour water") == []
    build(index, texts, model)
    assert found(index, model, "flour water", 1) == ["bread/1"]


@pytest.mark.parametrize("statement", ["UPDATE vectors SET numbers = x'01'", "UPDATE codes SET code = x'00ff'"])
def test_rows_of_others_are_made_anew_and_never_an_error_of_a_search(tmp_path: Path, statement: str) -> None:
    import sqlite3
    from contextlib import closing

    index, model, texts = index_in(tmp_path), WordModel(), shelf()
    build(index, texts, model)
    with closing(sqlite3.connect(files(tmp_path)[0], isolation_level=None)) as database:
        database.execute(statement)
    assert found(index_in(tmp_path), model, "flour water") == []
    build(index, texts, model)
    assert found(index, model, "flour water", 1) == ["bread/1"]


@pytest.mark.parametrize("bad", ["nan", "zero", "short", "fewer"])
def test_vectors_that_cannot_be_compared_are_refused(tmp_path: Path, bad: str) -> None:
    import numpy as np

    model = WordModel()

    def lie(asked: list[str]) -> object:
        made = WordModel.embed_passages(model, asked)
        made[0] *= {"nan": np.float32("nan"), "zero": np.float32(0)}.get(bad, np.float32(1))
        return {"short": made[:, :-1], "fewer": made[:-1]}.get(bad, made)

    index = index_in(tmp_path)
    maker = model.maker()._replace(embed=lie)  # pyright: ignore[reportArgumentType] -- the same at run time
    with pytest.raises(EmbeddingsError, match="cannot be used"):
        for _ in Builder(index, shelf(), maker).steps():
            pass
    assert index.count(model.name) == 0
    build(index, shelf(), model)
    assert index.count(model.name) == 4


def test_a_query_of_other_dimensions_finds_nothing(tmp_path: Path) -> None:
    index, model = index_in(tmp_path), WordModel()
    build(index, shelf(), model)
    assert found(index, WordModel("words", DIMENSIONS * 2), "flour") == []
    assert index.count(model.name) == 4


def test_a_digest_changes_with_every_part_and_its_weight() -> None:
    pieces = [
        TextPiece("1", (PiecePart("a"),)),
        TextPiece("1", (PiecePart("a", 0.5),)),
        TextPiece("1", (PiecePart("a"), PiecePart("b"))),
        TextPiece("1", (PiecePart("ab"),)),
    ]
    assert len({digest_of(piece) for piece in pieces}) == 4
    assert digest_of(pieces[0]) == digest_of(TextPiece("2", (PiecePart("a"),)))
