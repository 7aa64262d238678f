"""Many memories in files: a search by words and by meaning, storing one, and what is known of something."""

import json
import os
import sqlite3
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from anyio.from_thread import BlockingPortal, start_blocking_portal
from tests.benchmarks.library import timed
from tests.benchmarks.measuring import Benchmark, Plan, alternate
from tests.benchmarks.our_side import write_synced
from tests.benchmarks.table import Row
from tests.fixtures.library import data_of_conversation, id_of, iso_of
from tests.fixtures.serving import settings_for
from tests.fixtures.vectors import OneEmbedder, WordModel, there

from conversation_mcp.app import App
from conversation_mcp.bootstrap import open_app
from conversation_mcp.clock import utc_now
from conversation_mcp.conversations.memories import CANDIDATES, KeptMemory, Memories
from conversation_mcp.conversations.memory_meaning import MemoryMeaning
from conversation_mcp.embeddings.meaning import Meaning
from conversation_mcp.records.found import WantedMemories
from conversation_mcp.records.memory_ids import same_text
from conversation_mcp.records.models import ConversationId
from conversation_mcp.redacting.texts import TextRedaction
from conversation_mcp.searching.numeric import prepare_numpy
from conversation_mcp.searching.vectors.base import ModelVectors
from conversation_mcp.stores.meant_texts import VERSION

CONVERSATIONS, EACH = 100, 1_000
QUICK_CONVERSATIONS, QUICK_EACH = 10, 200
VOCABULARY, WORDS = 5_000, 14
QUERIES, QUERY_WORDS, LIMIT, TOKENS = 5, 4, 5, 2_000
DIMENSIONS, ROUNDS, PER_STEP = 384, 21, 1_000
PLAIN = "SELECT text FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT ?"
FULL_TEXT = "FTS5 with its defaults, any of the words"
NAMES = ("memories-search", "memories-meaning", "memories-store", "memories-context")


def measure(plan: Plan) -> Iterable[Row]:
    """Write the memories, and measure each service beside a plain table of the same texts."""
    speaker = Speaker()
    texts = write(plan, speaker)
    queries = [speaker.says(QUERY_WORDS) for _ in range(QUERIES)]
    many = f"{len(texts):,} memories"
    with opened(plan.scratch) as (portal, app), plain_table(texts) as database:
        memories = app.open_remembering().memories
        plain = partial(found_plainly, database)

        def measured(ours: Callable[[], object], theirs: Callable[[], object]) -> list[float]:
            return alternate(plan.rounds(ROUNDS), [partial(timed, ours), partial(timed, theirs)], 2)

        search = partial(ask, portal, memories, queries)
        ours, theirs = measured(search, lambda: [plain(query, LIMIT) for query in queries])
        yield Row(NAMES[0], f"{QUERIES} searches by words in {many}", "ms", FULL_TEXT, ours, theirs)
        meant, scan = by_meaning(app, texts)
        search = partial(ask, portal, meant, queries)
        ours, theirs = measured(search, lambda: [(plain(query, LIMIT), scan()) for query in queries])
        against = f"{FULL_TEXT}, and a scan of as many vectors by numpy"
        yield Row(NAMES[1], f"{QUERIES} searches by words and meaning in {many}", "ms", against, ours, theirs)
        new = (speaker.says(WORDS) for _ in count())
        bare = plan.scratch / "bare"

        def write_plainly() -> None:
            plain(next(new), CANDIDATES)
            write_synced(bare, path_of(plan.scratch, 0).read_bytes())
            bare.replace(bare.with_suffix(".json"))

        ours, theirs = measured(lambda: keep(portal, memories, next(new)), write_plainly)
        against = "the same query in FTS5, and the same file written, synced, renamed once"
        what = f"storing one in a conversation of {len(texts) // conversations_of(plan):,}, with the look for near duplicates"
        yield Row(NAMES[2], f"{what} in {many}", "ms", against, ours, theirs)
        knowledge = app.open_remembering().knowledge
        ours, theirs = measured(
            lambda: [portal.call(knowledge.of, query, TOKENS) for query in queries],
            lambda: [plain(query, LIMIT) for query in queries],
        )
        yield Row(NAMES[3], f"what is known of {QUERIES} things, get_context, in {many}", "ms", FULL_TEXT, ours, theirs)


class Speaker:
    """Says words by chance, few of them often and most of them rarely."""

    def __init__(self) -> None:
        self._chance = Random(7)
        self._words = [f"w{self._chance.getrandbits(40):x}" for _ in range(VOCABULARY)]
        self._shares = [1 / place for place in range(1, VOCABULARY + 1)]

    def says(self, words: int) -> str:
        """Return so many words."""
        return " ".join(self._chance.choices(self._words, self._shares, k=words))


def conversations_of(plan: Plan) -> int:
    """Return how many conversations there are."""
    return QUICK_CONVERSATIONS if plan.quick else CONVERSATIONS


def path_of(folder: Path, number: int) -> Path:
    """Return the file of a conversation."""
    return settings_for(folder).logs_dir / id_of(number) / "conversation.json"


def write(plan: Plan, speaker: Speaker) -> list[str]:
    """Write conversations of a question, an answer and many memories, and return the texts of these."""
    texts: list[str] = []
    for number in range(conversations_of(plan)):
        said = [f"{speaker.says(WORDS)} {number}-{place}" for place in range(QUICK_EACH if plan.quick else EACH)]
        memories = [
            {"memoryId": f"mem-{number}-{place}", "content": text, "createdAt": iso_of(place)}
            for place, text in enumerate(said)
        ]
        data: dict[str, Any] = data_of_conversation(number, speaker.says(WORDS), speaker.says(WORDS), memories=memories)
        path = path_of(plan.scratch, number)
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data, indent=2), encoding="utf-8")
        texts += said
    return texts


@contextmanager
def opened(folder: Path) -> Generator[tuple[BlockingPortal, App]]:
    """Open the program over the folder, and wait until its index knows everything."""
    with (
        patch.dict(os.environ, {"XDG_CACHE_HOME": str(folder / "cache")}),
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(open_app(settings_for(folder), providers=())) as app,
    ):
        memories = app.open_remembering().memories
        while portal.call(memories.search, WantedMemories(query="w"), 1)[1]:
            pass
        yield portal, app


@contextmanager
def plain_table(texts: Sequence[str]) -> Generator[sqlite3.Connection]:
    """Yield a table of the texts in memory, with the default tokenizer."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE VIRTUAL TABLE plain USING fts5(text)")
        database.executemany("INSERT INTO plain (text) VALUES (?)", ((text,) for text in texts))
        yield database


def found_plainly(database: sqlite3.Connection, query: str, limit: int) -> list[tuple[str]]:
    """Return the texts with any of the words, best first."""
    return database.execute(PLAIN, (" OR ".join(query.split()), limit)).fetchall()


def ask(portal: BlockingPortal, memories: Memories, queries: Sequence[str]) -> None:
    """Search for each."""
    for query in queries:
        portal.call(memories.search, WantedMemories(query=query), LIMIT)


def keep(portal: BlockingPortal, memories: Memories, text: str) -> KeptMemory:
    """Store a memory in the first conversation."""

    async def home() -> ConversationId:
        return ConversationId(id_of(0))

    return portal.call(memories.store, text, home)


def by_meaning(app: App, texts: Sequence[str]) -> tuple[Memories, Callable[[], object]]:
    """Give each text a vector by chance; return memories that search these too, and a plain scan of the same."""
    prepare_numpy()
    import numpy as np

    from conversation_mcp.searching.vectors.numbers import packed, unit

    model = WordModel(dimensions=DIMENSIONS)
    every = unit(np.random.default_rng(7).standard_normal((len(texts), DIMENSIONS), np.float32))
    remembered = there(app.store.finder.remembered)
    for start in range(0, len(texts), PER_STEP):
        some = list(zip(texts[start : start + PER_STEP], packed(every[start : start + PER_STEP]), strict=True))

        def put(rows: ModelVectors, some: Any = some) -> None:
            for text, vector in some:
                rows.put(same_text(text), {"0": (b"", vector)})
                rows.settle(same_text(text), VERSION, {"0"})
            rows.settle_all()

        remembered.vectors.write(model.name, "benchmark", put)
    meaning = MemoryMeaning(Meaning(remembered.vectors, OneEmbedder(model)), remembered)

    async def has_texts() -> None:
        pass

    def scan() -> object:
        similar = every @ every[0]
        return similar[np.argpartition(-similar, LIMIT)[:LIMIT]]

    return Memories(app.store, utc_now, TextRedaction(), lambda: meaning, has_texts), scan


BENCHMARKS = (Benchmark(NAMES, measure),)
