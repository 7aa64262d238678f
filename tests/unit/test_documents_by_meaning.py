"""Passages of documents are found by words and by meaning, and an answer says by which."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.fixtures.vectors import OneEmbedder, WordModel

from conversation_mcp.clock import utc_now
from conversation_mcp.documents.formats import Formats
from conversation_mcp.documents.library import DocumentLibrary
from conversation_mcp.documents.query_words import load_stopwords
from conversation_mcp.documents.question import Question
from conversation_mcp.documents.roots import roots_of
from conversation_mcp.documents.scope import Scope
from conversation_mcp.documents.selection import Findings
from conversation_mcp.errors import EmbeddingsError
from conversation_mcp.providers.local.answer import compose
from conversation_mcp.records.chat import ChatMessage

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.numbers import Floats

PAGES = {
    "pets.md": "# Pets\n\nThe hound barks at night.\n\n# Food\n\nIt eats bones.",
    "money.md": "# Invoices\n\nPay within thirty days.\n\n# Refunds\n\nWe return what was paid.",
    **{f"other{n}.md": f"# Page {n}\n\nSomething about topic {n} and nothing else." for n in range(12)},
}
ALIKE = {"dog": "hound", "bill": "invoices", "reimbursement": "refunds"}


class Thesaurus(WordModel):
    """Knows some words for the same thing, and no others."""

    def embed_passages(self, texts: Sequence[str]) -> "Floats":
        plain = (" ".join(word.strip("?.#") for word in text.lower().split()) for text in texts)
        return super().embed_passages([" ".join(ALIKE.get(word, word) for word in text.split()) for text in plain])


def library(folder: Path, model: WordModel, *others: WordModel) -> DocumentLibrary:
    pages = folder / "pages"
    pages.mkdir(exist_ok=True)
    for name, text in PAGES.items():
        (pages / name).write_text(text, encoding="utf-8")
    opened = DocumentLibrary(
        roots_of([pages], None), folder / "indexes", utc_now, Formats(), OneEmbedder(model, *others)
    )
    for _ in opened.catch_up():
        pass
    return opened


def made(folder: Path, model: WordModel | None = None) -> DocumentLibrary:
    opened = library(folder, model or Thesaurus())
    make(opened)
    return opened


def make(opened: DocumentLibrary) -> None:
    assert opened.meaning
    for _ in opened.meaning.steps(opened.texts):
        pass


def ask(opened: DocumentLibrary, question: str, scope: Scope | None = None, limit: int = 4) -> Findings:
    asked = Question.of([ChatMessage("user", question)], load_stopwords())
    return opened.find(asked, scope or Scope(), limit, by_parts=False)


def found(findings: Findings) -> list[tuple[str, str]]:
    return [(passage.heading, findings.found_by[passage]) for passage in findings.passages]


def test_a_passage_without_any_word_of_the_question_is_found_by_its_meaning(tmp_path: Path) -> None:
    assert found(ask(made(tmp_path), "my dog"))[0] == ("Pets", "meaning")


def test_a_passage_with_the_words_stays_on_top(tmp_path: Path) -> None:
    assert found(ask(made(tmp_path), "hound barks"))[0] == ("Pets", "both")


def test_what_words_found_counts_by_its_own_meaning_though_others_are_nearer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversation_mcp.documents.library.CANDIDATES", 1)
    monkeypatch.setitem(ALIKE, "zib", "hound")
    said = " ".join(f"said{number}" for number in range(12))
    monkeypatch.setitem(PAGES, "tea.md", f"# Kettle\n\nkettle kettle {said}\n\n# Noise\n\nhound kettle red blue")
    monkeypatch.setitem(PAGES, "hound.md", "# Hound\n\nhound")
    assert next(each.heading for each in ask(library(tmp_path, Thesaurus()), "zib kettle").passages) == "Kettle"
    assert found(ask(made(tmp_path), "zib kettle"))[:2] == [("Noise", "words"), ("Kettle", "words")]


def test_before_the_vectors_are_whole_words_answer_and_nothing_is_asked_of_the_model(tmp_path: Path) -> None:
    model = Thesaurus()
    opened = library(tmp_path, model)
    findings = ask(opened, "hound")
    assert [passage.heading for passage in findings.passages] == ["Pets"]
    assert findings.found_by == {}
    assert model.texts == []
    assert opened.meaning
    assert opened.meaning.notice == "the vectors are still being made, so only words were searched for"


def test_the_answer_says_what_found_a_passage(tmp_path: Path) -> None:
    answer = compose(ask(made(tmp_path), "dog"), by_file=False, notices=())
    assert "· Pets · found by its meaning\n" in answer.content
    assert answer.sources[0].found_by == "meaning"


def test_filters_hold_for_what_is_found_by_meaning(tmp_path: Path) -> None:
    opened = made(tmp_path)
    only_money = ask(opened, "dog", Scope(patterns=("money.md",)))
    assert {passage.path.name for passage in only_money.passages} <= {"money.md"}
    but_pets = ask(opened, "reimbursement", Scope(patterns=("pets.md",), is_denied=True))
    assert found(but_pets)[0] == ("Refunds", "meaning")


def test_a_text_that_has_changed_is_not_found_by_the_vector_of_the_old_one(tmp_path: Path) -> None:
    opened = made(tmp_path)
    (tmp_path / "pages" / "pets.md").write_text("# Cars\n\nFour wheels.", encoding="utf-8")
    for _ in opened.catch_up():
        pass
    assert "Cars" not in {heading for heading, _ in found(ask(opened, "dog"))}
    make(opened)
    assert opened.meaning
    assert opened.meaning.count == opened.passage_count


def test_a_question_that_finds_nothing_gets_headings_and_words_to_try(tmp_path: Path) -> None:
    opened = made(tmp_path)
    findings = ask(opened, "zebra quagga")
    assert findings.passages == ()
    assert findings.nearest
    assert findings.to_try
    said = compose(findings, by_file=False, notices=()).content
    assert "The nearest headings: " in said
    assert f"Words to try, which these documents use: {', '.join(findings.to_try)}." in said


def test_a_model_that_fails_leaves_the_words_and_says_so(tmp_path: Path) -> None:
    class Broken(Thesaurus):
        is_broken = False

        def embed_queries(self, texts: Sequence[str]) -> "Floats":
            if self.is_broken:
                message = "the server of vectors does not answer."
                raise EmbeddingsError(message)
            return super().embed_queries(texts)

    model = Broken()
    opened = made(tmp_path, model)
    model.is_broken = True
    assert [passage.heading for passage in ask(opened, "hound").passages] == ["Pets"]
    assert opened.meaning
    assert opened.meaning.notice == "the server of vectors does not answer."


def test_the_model_before_serves_until_the_new_one_is_whole(tmp_path: Path) -> None:
    old, new = Thesaurus("old"), Thesaurus("new")
    make(library(tmp_path, old))
    opened = library(tmp_path, new, old)
    assert found(ask(opened, "dog"))[0] == ("Pets", "meaning")
    assert opened.meaning
    assert opened.meaning.notice == "the vectors of new are still being made; those of old were used"
    make(opened)
    assert found(ask(opened, "dog"))[0] == ("Pets", "meaning")
    assert opened.meaning.notice is None


@pytest.mark.parametrize("question", ["", "???", "the and of"])
def test_a_question_without_words_is_no_problem(tmp_path: Path, question: str) -> None:
    assert isinstance(ask(made(tmp_path), question), Findings)


def test_several_phrasings_a_line_each_find_what_any_of_them_does(tmp_path: Path) -> None:
    opened = made(tmp_path)
    headings = [heading for heading, _ in found(ask(opened, "dog\nreimbursement\nthirty days"))]
    assert {"Pets", "Refunds", "Invoices"} <= set(headings)
    assert [one.text for one in Question.of([ChatMessage("user", "dog\n\n refund \n")], frozenset()).phrasings] == [
        "dog",
        "refund",
    ]
    assert Question.of([ChatMessage("user", "one line")], frozenset()).phrasings == ()
