"""Conversations are found by words and by the meaning of their turns, together, in every store that has vectors."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from tests.fixtures.library import MUCH_LATER, id_of, numbers_of, wanted_of
from tests.fixtures.numbered import Numbered
from tests.fixtures.stores import Clock
from tests.fixtures.vectors import OneEmbedder, WordModel, there

from conversation_mcp.conversations.turn_meaning import NEAR_TURNS
from conversation_mcp.embeddings.meaning import Meaning
from conversation_mcp.records.found import Page, Place
from conversation_mcp.records.models import ConversationId
from conversation_mcp.searching.vectors.index import VectorIndex
from conversation_mcp.searching.vectors.near import Neighbourhood
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.numbers import Floats

TOPICS = 14
ALIKE = {"dog": "hound", "reimbursement": "refunds"}


class Synonyms(WordModel):
    """Knows some words for the same thing, and no others."""

    def embed_passages(self, texts: Sequence[str]) -> "Floats":
        return super().embed_passages([" ".join(ALIKE.get(word, word) for word in text.split()) for text in texts])


class Changing(Synonyms):
    """Has something done before it makes vectors."""

    def __init__(self, before: Callable[[], None]) -> None:
        super().__init__()
        self._before = before

    def embed_passages(self, texts: Sequence[str]) -> "Floats":
        self._before()
        return super().embed_passages(texts)


class Meant:
    """Conversations with a model."""

    def __init__(self, url: str) -> None:
        self.shelf = Numbered(open_store(url, Clock(MUCH_LATER), is_durable=False))
        self.turns = there(self.shelf.finder.turns)
        self.meaning = Meaning(self.turns.vectors, OneEmbedder(Synonyms()))
        self.shelf.put(0, "hound barks", "hound bites")
        for number in range(1, TOPICS):
            self.shelf.put(number, f"topic{number} of{number}", f"nothing{number} else{number}")

    def make(self) -> None:
        for _ in self.meaning.steps(self.turns.source):
            pass

    def page(self, query: str, limit: int = 10, place: Place | None = None, **wanted: Any) -> Page:
        finder = self.shelf.finder
        finder.refresh(Headway())
        return finder.page(wanted_of(query, **wanted), limit, place, self.meaning.near(query, NEAR_TURNS))


@pytest.fixture
def meant(meant_url: str) -> Meant:
    return whole(meant_url)


@pytest.fixture
def in_files(tmp_path: Path) -> Meant:
    return whole((tmp_path / "logs").as_uri())


def whole(url: str) -> Meant:
    made = Meant(url)
    made.make()
    return made


def file_of(meant: Meant) -> Path:
    assert isinstance(meant.turns.vectors, VectorIndex)
    return Path(meant.turns.vectors.location) / "index.db"


def test_a_conversation_without_any_word_of_the_query_is_found_by_its_meaning_and_a_notice_says_so(
    meant: Meant,
) -> None:
    page = meant.page("dog")
    assert (numbers_of(page), page.found[0].message_number) == ([0], 1)
    assert "hound" in (page.found[0].snippet or "")
    assert "1 conversation" in page.notices[-1]
    assert not meant.shelf.page("dog").found


def test_what_words_find_best_stays_above_what_meaning_alone_finds(meant: Meant) -> None:
    meant.shelf.put(20, "dog food", "dog bones")
    page = meant.page("dog")
    assert numbers_of(page) == [20, 0]
    assert [each.found_by for each in page.found] == ["words", "meaning"]  # the new one has no vector yet
    meant.make()
    assert [each.found_by for each in meant.page("dog").found] == ["both", "meaning"]
    assert meant.shelf.page("dog").found[0].found_by is None


def test_a_query_that_is_near_nothing_finds_nothing(meant: Meant) -> None:
    assert not meant.page("zebra").found


def test_filters_hold_for_what_meaning_finds(meant: Meant) -> None:
    assert not meant.page("dog", state="archived").found


def test_pages_go_on_through_words_and_meaning_without_repeating(meant: Meant) -> None:
    meant.shelf.put(20, "dog food", "dog bones")
    first = meant.page("dog", limit=1)
    second = meant.page("dog", 1, first.next)
    assert (numbers_of(first), numbers_of(second), second.next) == ([20], [0], None)


def test_before_there_are_vectors_words_are_found_as_ever(meant_url: str) -> None:
    assert numbers_of(Meant(meant_url).page("hound")) == [0]


def test_only_a_conversation_that_has_changed_gets_new_vectors(meant: Meant) -> None:
    before = meant.turns.vectors.count("words")
    assert before == TOPICS
    meant.shelf.put(1, "topic1 of1", "nothing1 else1", "dog walks", "well")
    meant.make()
    assert meant.turns.vectors.count("words") == before + 1
    assert set(numbers_of(meant.page("dog"))) == {0, 1}


def test_it_is_known_how_many_conversations_have_their_vectors_as_they_are_now(meant: Meant) -> None:
    meant.shelf.put(1, "topic1 of1", "nothing1 else1", "dog walks", "well")
    meant.shelf.put(99, "new", "text")
    headway = meant.meaning.headway(meant.turns.source)
    assert (headway.done, headway.total) == (TOPICS - 1, TOPICS + 1)
    meant.make()
    headway = meant.meaning.headway(meant.turns.source)
    assert (headway.done, headway.total) == (TOPICS + 1, TOPICS + 1)


def test_counting_vectors_makes_no_file_of_them(tmp_path: Path) -> None:
    meant = Meant((tmp_path / "logs").as_uri())
    assert meant.meaning.headway(meant.turns.source).done == 0
    assert not file_of(meant).parent.exists()


def test_what_a_message_no_longer_says_is_not_found_by_its_meaning_once_it_is_erased(meant: Meant) -> None:
    meant.shelf.put(0, "kettle whistles", "kettle boils")
    meant.shelf.finder.erase([ConversationId(id_of(0))])
    assert meant.turns.vectors.count("words") == TOPICS - 1
    assert not meant.page("dog").found


def test_what_was_deleted_or_brought_back_is_found_as_it_is_there(meant: Meant) -> None:
    trashed = meant.shelf.delete(0)
    assert not meant.page("dog").found
    anyio.run(meant.shelf.store.trash.restore, trashed)
    meant.make()
    assert numbers_of(meant.page("dog")) == [0]
    anyio.run(meant.shelf.store.trash.remove, meant.shelf.delete(0))
    meant.make()
    assert meant.turns.vectors.count("words") == TOPICS - 1


def test_another_model_is_made_beside_the_one_that_serves_until_it_is_whole(meant: Meant) -> None:
    old, new = Synonyms(), Synonyms("other", dimensions=64)
    later = Meaning(meant.turns.vectors, OneEmbedder(new, old))
    steps = later.steps(meant.turns.source)
    next(steps)
    around = later.near("dog", NEAR_TURNS)
    assert (around and around.found[0].group, [model.is_whole for model in meant.turns.vectors.models()]) == (
        id_of(0), [False, True]
    )  # fmt: skip
    assert "other are still being made" in (later.notice or "")
    list(steps)
    assert [model.name for model in meant.turns.vectors.models()] == ["other"]
    around = later.near("dog", NEAR_TURNS)
    assert (around and around.found[0].group, later.notice) == (id_of(0), None)


def test_two_who_build_do_not_do_it_twice(meant: Meant) -> None:
    meant.shelf.put(50, "new", "text")
    first, second = Synonyms(), Synonyms()
    steps = Meaning(meant.turns.vectors, OneEmbedder(first)).steps(meant.turns.source)
    next(steps)
    [step] = Meaning(meant.turns.vectors, OneEmbedder(second)).steps(meant.turns.source)
    assert (step.is_elsewhere, second.texts) == (True, [])
    list(steps)
    assert first.texts == ["new text"]


def test_what_changes_while_its_vectors_are_made_gets_those_of_its_new_text_with_the_next_build(meant: Meant) -> None:
    meant.shelf.put(50, "dog sleeps", "well")
    model = Changing(lambda: meant.shelf.put(50, "kettle boils", "well"))
    list(Meaning(meant.turns.vectors, OneEmbedder(model)).steps(meant.turns.source))
    assert meant.turns.vectors.count("words") == TOPICS
    meant.make()
    assert meant.turns.vectors.count("words") == TOPICS + 1
    assert numbers_of(meant.page("dog")) == [0]


def test_the_nearest_of_few_are_found_among_these_alone(meant: Meant) -> None:
    around = meant.meaning.near("dog", NEAR_TURNS, {id_of(1), id_of(2)})
    assert around
    assert ({near.group for near in around.found}, around.pieces) == ({id_of(1), id_of(2)}, TOPICS)


def test_a_server_that_changed_the_length_of_its_vectors_finds_nothing_by_meaning(meant: Meant) -> None:
    changed = Meaning(meant.turns.vectors, OneEmbedder(Synonyms(dimensions=200)))
    assert not (changed.near("dog", NEAR_TURNS) or Neighbourhood()).found


def test_the_turns_around_a_turn_count_a_little(meant: Meant) -> None:
    pieces = meant.turns.source.pieces(id_of(0))
    assert [[part.weight for part in piece.parts] for piece in pieces] == [[1.0]]
    meant.shelf.put(0, "one", "1", "two", "2", "three", "3")
    pieces = meant.turns.source.pieces(id_of(0))
    assert [piece.item for piece in pieces] == ["1.0", "3.0", "5.0"]
    assert [(part.text, part.weight) for part in pieces[1].parts] == [
        ("two\n2", 1.0),
        ("one\n1", 0.4),
        ("three\n3", 0.2),
    ]


def test_a_long_answer_has_several_pieces_that_begin_with_the_question(meant: Meant) -> None:
    meant.shelf.put(0, "why?", "word " * 100_000)
    pieces = meant.turns.source.pieces(id_of(0))
    assert [piece.item for piece in pieces] == [f"1.{part}" for part in range(8)]
    assert all(piece.parts[0].text.startswith("why?\n") and len(piece.parts[0].text) < 1_300 for piece in pieces)


def test_a_damaged_file_of_vectors_is_no_error_of_a_search(in_files: Meant) -> None:
    file_of(in_files).write_bytes(b"no database" * 1_000)
    assert numbers_of(in_files.page("hound")) == [0]


def test_no_bytes_of_a_vector_are_left_of_a_conversation_that_is_deleted_for_good(
    in_files: Meant, vector_bytes: Callable[[Meant], list[bytes]]
) -> None:
    mine = vector_bytes(in_files)
    home = file_of(in_files).parent

    def left() -> list[bytes]:
        data = b"".join(path.read_bytes() for path in home.iterdir() if path.is_file())
        return [each for each in mine if each in data]

    assert left() == mine
    path = Path(in_files.shelf.finder.location(id_of(0)))
    path.unlink()
    path.parent.rmdir()
    in_files.shelf.finder.erase([ConversationId(id_of(0))])
    assert not left()
    assert not in_files.page("dog").found


@pytest.fixture
def vector_bytes() -> Callable[[Meant], list[bytes]]:
    def of(meant: Meant) -> list[bytes]:
        import sqlite3

        database = sqlite3.connect(file_of(meant))
        found = database.execute(
            "SELECT code, numbers FROM codes c JOIN vectors v ON v.id = c.id JOIN groups g ON g.id = c.grp "
            "WHERE g.name = ?",
            (id_of(0).encode(),),
        ).fetchall()
        database.close()
        assert found
        return [part for row in found for part in row]

    return of
