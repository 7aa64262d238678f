"""Three ways to find passages: ours, full-text search as it comes, and counting words as one does with grep."""

import re
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from sqlite3 import Connection, connect

from conversation_mcp.clock import utc_now
from conversation_mcp.documents.formats import Formats
from conversation_mcp.documents.kinds.markdown import markdown
from conversation_mcp.documents.library import DocumentLibrary
from conversation_mcp.documents.passages import Passage, cut
from conversation_mcp.documents.query_words import load_stopwords
from conversation_mcp.documents.question import Question
from conversation_mcp.documents.roots import roots_of
from conversation_mcp.documents.scope import Scope
from conversation_mcp.embeddings.catalog import Embedders
from conversation_mcp.records.chat import ChatMessage

Find = Callable[[str, int], Sequence[Passage]]
WORD = re.compile(r"\w+")
PLAIN = "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT ?"


def ours(folder: Path, indexes: Path, embedders: Embedders | None = None) -> Find:
    """Ask the library of the local provider; with embedders, by meaning too."""
    library = DocumentLibrary(roots_of([folder], None), indexes, utc_now, Formats(), embedders)
    for _ in library.catch_up():
        pass
    if library.meaning:
        for _ in library.meaning.steps(library.texts):
            pass
    stopwords = load_stopwords()

    def find(question: str, limit: int) -> Sequence[Passage]:
        asked = Question.of([ChatMessage("user", question)], stopwords)
        return library.find(asked, Scope(), limit, by_parts=False).passages

    return find


@contextmanager
def plain_full_text(passages: Sequence[Passage]) -> Generator[Find]:
    """Ask an FTS5 table with the default tokenizer and ranking for any of the words."""
    with closing(connect(":memory:")) as database:
        yield _plain(database, passages)


def _plain(database: Connection, passages: Sequence[Passage]) -> Find:
    database.execute("CREATE VIRTUAL TABLE plain USING fts5(title, heading, body)")
    rows = ((place, one.title, one.heading, one.text) for place, one in enumerate(passages))
    database.executemany("INSERT INTO plain (rowid, title, heading, body) VALUES (?, ?, ?, ?)", rows)

    def find(question: str, limit: int) -> Sequence[Passage]:
        match = " OR ".join(f'"{word}"' for word in WORD.findall(question))
        places: list[tuple[int]] = database.execute(PLAIN, (match, limit)).fetchall()
        return [passages[place] for (place,) in places]

    return find


def counting(passages: Sequence[Passage]) -> Find:
    """Count how often the words of the question, stop words left out, stand in each passage."""
    stopwords = load_stopwords()
    counts: list[Counter[str]] = [
        Counter(WORD.findall(f"{one.title} {one.heading} {one.text}".lower())) for one in passages
    ]

    def find(question: str, limit: int) -> Sequence[Passage]:
        words = set(WORD.findall(question.lower())) - stopwords
        scores = [sum(count[word] for word in words) for count in counts]
        best = sorted(range(len(passages)), key=lambda place: (-scores[place], place))[:limit]
        return [passages[place] for place in best if scores[place]]

    return find


def passages_below(folder: Path) -> list[Passage]:
    """Cut the same files into the same passages as ours."""
    return [
        passage
        for path in sorted(folder.rglob("*.md"))
        for passage in cut(markdown(path.read_text(encoding="utf-8")), path)
    ]
