"""How well turns of long conversations are found for the questions of LoCoMo, by words and meaning as conversations are.

The file is not shipped, because its licence does not allow it: LOCOMO names a copy of `data/locomo10.json`.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks.measuring import Benchmark, Plan
from tests.benchmarks.table import Row
from tests.fixtures.library import Shelf, id_of, numbers_of

from conversation_mcp.embeddings.catalog import BUNDLED, Embedders
from conversation_mcp.embeddings.meaning import Meaning
from conversation_mcp.records.found import Wanted
from conversation_mcp.searching.database import IndexFile
from conversation_mcp.searching.vectors.index import VectorIndex
from conversation_mcp.searching.vectors.pieces import PiecePart, TextPiece
from conversation_mcp.searching.vectors.schema import schema
from conversation_mcp.stores.headway import Headway

VARIABLE, NAME, LIMIT, NEAR = "LOCOMO", "recall-locomo", 5, 1_000
PREVIOUS, FOLLOWING = 0.4, 0.2
"""As `stores/files/turns.py` has them."""
ADVERSARIAL = 5
"""The category of questions that nothing answers."""


class Talk(NamedTuple):
    """A conversation of LoCoMo: its turns in order, and the questions with the places of the turns that answer them."""

    turns: tuple[str, ...]
    questions: tuple[tuple[str, frozenset[int]], ...]


class Found:
    """For each question, whether a turn that answers it was found, and which share of those that do."""

    def __init__(self) -> None:
        self.hits: list[bool] = []
        self._shares: list[float] = []

    def add(self, answers: frozenset[int], found: Sequence[int]) -> None:
        """Take the answers to a question, and what was found."""
        both = answers.intersection(found)
        self.hits.append(bool(both))
        self._shares.append(len(both) / len(answers))

    @property
    def recall(self) -> float:
        """The share of the questions for which an answer was found."""
        return sum(self.hits) / len(self.hits)

    @property
    def share(self) -> float:
        """The mean share of the answers that were found."""
        return sum(self._shares) / len(self._shares) if self._shares else 0.0


class Turns:
    """The turns of one talk, each a group of its own, with those around it; satisfies TextSource."""

    def __init__(self, turns: Sequence[str]) -> None:
        self._turns = turns

    def groups(self) -> Iterator[tuple[str, str]]:
        for place in range(len(self._turns)):
            yield id_of(place), "1"

    def pieces(self, group: str) -> Sequence[TextPiece]:
        place = next(place for place in range(len(self._turns)) if id_of(place) == group)
        around = [(place - 1, PREVIOUS), (place + 1, FOLLOWING)]
        parts = [PiecePart(self._turns[at], weight) for at, weight in around if 0 <= at < len(self._turns)]
        return [TextPiece("1.0", (PiecePart(self._turns[place]), *parts))]

    def state(self, group: str) -> str | None:
        del group
        return "1"


def talks_in(path: Path) -> Iterator[Talk]:
    """Read the file."""
    for sample in json.loads(path.read_text(encoding="utf-8")):
        said = sample["conversation"]
        count = sum(name.startswith("session_") and isinstance(said[name], list) for name in said)
        turns: list[dict[str, Any]] = [turn for number in range(1, count + 1) for turn in said[f"session_{number}"]]
        places = {turn["dia_id"]: place for place, turn in enumerate(turns)}
        asked = [
            (str(one["question"]), frozenset(places[each] for each in one.get("evidence") or () if each in places))
            for one in sample["qa"]
            if one["category"] != ADVERSARIAL
        ]
        texts = (f"{turn['speaker']}: {turn['text']}" for turn in turns)
        yield Talk(tuple(texts), tuple(one for one in asked if one[1]))


def measure(plan: Plan) -> Iterable[Row]:
    """Ask every question among the turns of its own talk, by both and by words alone."""
    path, embedders = os.environ.get(VARIABLE), Embedders(BUNDLED, lambda _: None)
    missing = "" if path else f"{VARIABLE} names no copy of data/locomo10.json"
    missing = missing or ("" if embedders.chosen else "the bundled model is not installed")
    both, words = Found(), Found()
    for number, talk in enumerate(() if missing or path is None else talks_in(Path(path))):
        folder = plan.scratch / str(number)
        folder.mkdir()
        _ask(talk, folder, embedders, both, words)
    yield Row(
        NAME,
        f"recall@5 of {len(both.hits):,} questions, for which a turn that answers is found, by words and meaning; of all "
        f"such turns {both.share:.3f}, theirs {words.share:.3f}",
        "of 1",
        "words alone",
        both.recall if both.hits else None,
        words.recall if words.hits else None,
        missing=missing,
    )


def _ask(talk: Talk, folder: Path, embedders: Embedders, both: Found, words: Found) -> None:
    shelf, source = Shelf(folder), Turns(talk.turns)
    for place, text in enumerate(talk.turns):
        shelf.put(place, text)
    finder = shelf.finder
    finder.refresh(Headway())
    meaning = Meaning(VectorIndex(IndexFile([shelf.root], folder / "vectors", schema("turns"))), embedders)
    for _ in meaning.steps(source):
        pass
    for question, answers in talk.questions:
        page = partial(finder.page, Wanted(question), LIMIT, None)
        for found, recall in ((page(meaning.near(question, NEAR)), both), (page(), words)):
            recall.add(answers, numbers_of(found))


BENCHMARKS = (Benchmark((NAME,), measure),)
