"""The labelled questions, and how many of the answers a way to find passages finds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from tests.benchmarks.retrieval.methods import WORD, Find

from conversation_mcp.documents.passages import Passage
from conversation_mcp.documents.query_words import load_stopwords
from conversation_mcp.searching.stemming import root

Kind = Literal["same", "other", "later"]
DEPTH = 10
HIT_DEPTH = 5


@dataclass(frozen=True)
class Labelled:
    """A question, and the file and words of the passage that answers it."""

    kind: Kind
    file: str
    words: str
    question: str

    def is_answered_by(self, passage: Passage, folder: Path) -> bool:
        """Tell whether the passage is the one, or holds the words of it."""
        return passage.path == folder / self.file and _squeezed(self.words) in _squeezed(passage.text)


@dataclass(frozen=True)
class Quality:
    """How many of so many questions have their answer among the first five, and how far in front it stands."""

    questions: int
    recall_at_5: float
    mean_reciprocal_rank: float


def load_questions() -> list[Labelled]:
    """Read the set."""
    lines = Path(__file__).with_name("questions.txt").read_text(encoding="utf-8").splitlines()
    cells = ([cell.strip() for cell in line.split(" | ")] for line in lines if line and not line.startswith("#"))
    return [Labelled(cast("Kind", kind), file, words, question) for kind, file, words, question in cells]


def quality(find: Find, questions: Sequence[Labelled], folder: Path) -> Quality:
    """Ask each question and look where the answer stands; beyond the tenth place it counts as not found."""
    ranks = ranks_of(find, questions, folder)
    return Quality(
        len(ranks),
        sum(rank is not None and rank <= HIT_DEPTH for rank in ranks) / len(ranks),
        sum(1 / rank for rank in ranks if rank) / len(ranks),
    )


def ranks_of(find: Find, questions: Sequence[Labelled], folder: Path) -> list[int | None]:
    """Ask each question and return the place of its answer."""
    return [_rank(find(asked.question, DEPTH), asked, folder) for asked in questions]


def won_and_lost(find: Find, other: Find, questions: Sequence[Labelled], folder: Path) -> tuple[int, int]:
    """Return how many answers stand among the first five in one way alone, and how many in the other alone."""
    ours, theirs = (
        [rank is not None and rank <= HIT_DEPTH for rank in ranks_of(one, questions, folder)] for one in (find, other)
    )
    return (
        sum(mine and not yours for mine, yours in zip(ours, theirs, strict=True)),
        sum(yours and not mine for mine, yours in zip(ours, theirs, strict=True)),
    )


def answer_to(asked: Labelled, passages: Iterable[Passage], folder: Path) -> Passage | None:
    """Return the passage that answers a question."""
    return next((passage for passage in passages if asked.is_answered_by(passage, folder)), None)


def shared_share(question: str, passage: Passage) -> float:
    """Return how many of the words of a question, stop words left out, the passage has in some form."""
    own = {root(word) for word in WORD.findall(question.lower()) if word not in load_stopwords()}
    theirs = {root(word) for word in WORD.findall(passage.text.lower())}
    return len(own & theirs) / max(1, len(own))


def _rank(found: Sequence[Passage], asked: Labelled, folder: Path) -> int | None:
    return next((rank for rank, passage in enumerate(found, 1) if asked.is_answered_by(passage, folder)), None)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
