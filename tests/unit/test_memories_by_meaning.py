"""Memories are found by words and by meaning together; what is forgotten leaves no vector."""

import json
import sqlite3
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import pytest
from anyio import to_thread
from tests.fixtures.stores import Clock
from tests.fixtures.vectors import OneEmbedder, WordModel, there

from conversation_mcp.conversations.memories import KeptMemory, Memories
from conversation_mcp.conversations.memory_meaning import NEAR_PIECES, MemoryMeaning, open_memory_meaning
from conversation_mcp.conversations.opening import Opening
from conversation_mcp.embeddings.meaning import Meaning
from conversation_mcp.errors import EmbeddingsError
from conversation_mcp.records.found import WantedMemories
from conversation_mcp.records.memory_ids import same_text
from conversation_mcp.records.models import ConversationId
from conversation_mcp.redacting.texts import TextRedaction
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.stores.files.finder import FileFinder
from conversation_mcp.stores.files.folder import STRAY_AFTER
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.numbers import Floats

ALIKE = {"dog": "hound", "puppy": "hound", "eats": "consumes"}
FILLERS = tuple(f"topic{number} of{number} nothing{number}" for number in range(6))


class Synonyms(WordModel):
    """Knows some words for the same thing, and no others; may be made to fail."""

    fails = False

    def embed_passages(self, texts: Sequence[str]) -> "Floats":
        if self.fails:
            raise EmbeddingsError("the model is broken.")
        return super().embed_passages([" ".join(ALIKE.get(word, word) for word in text.split()) for text in texts])


async def nothing_more() -> None:
    """Stand for a program without work aside."""


class Desk(NamedTuple):
    """Memories in a folder, with a model for their meaning."""

    memories: Memories
    home: ConversationId
    finder: FileFinder
    model: Synonyms

    async def keep(self, content: str, home: ConversationId | None = None, tags: Sequence[str] = ()) -> KeptMemory:
        return await self.memories.store(content, self.homeless, conversation_id=home or self.home, tags=tags)

    async def homeless(self) -> ConversationId:
        return self.home

    async def found(self, query: str, threshold: float | None = None, **filters: Any) -> list[tuple[str, str]]:
        wanted = WantedMemories(query=query, **filters)
        found, _ = await self.memories.search(wanted, 5, threshold)
        return [(each.found.memory.content, each.by) for each in found]

    async def vector_bytes(self, content: str) -> list[bytes]:
        return await to_thread.run_sync(_vector_bytes, self.finder, content)

    async def left_of(self, parts: Sequence[bytes]) -> list[bytes]:
        return await to_thread.run_sync(_left_of, self.finder, parts)

    async def make(self) -> int:
        return await to_thread.run_sync(_make, self.finder, self.model)

    async def remake(self) -> int:
        await to_thread.run_sync(self.finder.refresh, Headway())
        return await self.make()


def _file(finder: FileFinder) -> Path:
    return Path(there(finder.remembered).vectors.location) / "index.db"


def _vector_bytes(finder: FileFinder, content: str) -> list[bytes]:
    database = sqlite3.connect(_file(finder))
    found = database.execute(
        "SELECT code, numbers FROM codes c JOIN vectors v ON v.id = c.id JOIN groups g ON g.id = c.grp "
        "WHERE g.name = ?",
        (same_text(content).encode(),),
    ).fetchall()
    database.close()
    return [part for row in found for part in row]


def _left_of(finder: FileFinder, parts: Sequence[bytes]) -> list[bytes]:
    home = _file(finder).parent
    data = b"".join(path.read_bytes() for path in home.iterdir() if path.is_file())
    return [part for part in parts if part in data]


def _make(finder: FileFinder, model: WordModel) -> int:
    done = [
        step.done
        for step in Meaning(there(finder.remembered).vectors, OneEmbedder(model)).steps(there(finder.remembered).source)
    ]
    return done[-1]


def _damage(finder: FileFinder) -> None:
    _file(finder).write_bytes(b"no database" * 1_000)


def _clock(folder: Path) -> Clock:
    """Return one by which files have settled, but a folder that was just reserved is no stray yet."""
    return Clock(datetime.fromtimestamp(folder.stat().st_mtime, UTC) + STRAY_AFTER / 2)


def _edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Desk]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    now = _clock(tmp_path)
    store = await to_thread.run_sync(open_store, (tmp_path / "logs").as_uri(), now, "local")
    finder, model = store.finder, Synonyms()
    assert isinstance(finder, FileFinder)
    remembered = await to_thread.run_sync(lambda: there(finder.remembered))
    meaning = MemoryMeaning(Meaning(remembered.vectors, OneEmbedder(model)), remembered)
    opened, _ = await Opening(store, now, TextRedaction()).open("Dogs")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(store.run)
        yield Desk(
            Memories(store, now, TextRedaction(), lambda: meaning, nothing_more),
            ConversationId(opened.conversation_id),
            finder,
            model,
        )
        tasks.cancel_scope.cancel()


async def test_a_memory_that_was_just_stored_is_found_by_meaning_alone_and_says_so(desk: Desk) -> None:
    kept = await desk.keep("hound barks")
    assert kept.dimension == desk.model.dimensions
    for filler in FILLERS:
        await desk.keep(filler)
    assert await desk.found("dog") == [("hound barks", "meaning")]
    assert await desk.found("hound") == [("hound barks", "both")]


async def test_the_only_memory_is_found_by_meaning_too(desk: Desk) -> None:
    await desk.keep("hound barks")
    assert await desk.found("dog") == [("hound barks", "meaning")]
    assert await desk.found("zebra") == []


async def test_what_has_all_words_stays_above_what_only_means_the_same(desk: Desk) -> None:
    await desk.keep("hound consumes bones")
    await desk.keep("the dog eats what it finds in the large garden behind our house")
    found = await desk.found("dog eats")
    assert [content[:9] for content, _ in found] == ["the dog e", "hound con"]


async def test_those_that_mean_the_same_in_other_words_are_named_when_one_is_stored(desk: Desk) -> None:
    first = await desk.keep("hound consumes bones")
    second = await desk.keep("puppy eats bones")
    assert [(each.found.memory.memory_id, each.by) for each in second.alike] == [
        (first.found.memory.memory_id, "meaning")
    ]
    assert second.alike[0].similarity == pytest.approx(1.0, abs=0.02)
    third = await desk.keep("kettle is blue")
    assert third.alike == ()


async def test_filters_and_the_threshold_hold_for_what_meaning_finds(desk: Desk) -> None:
    await desk.keep("hound barks", tags=("animal",))
    assert await desk.found("dog", tags=("animal",)) == [("hound barks", "meaning")]
    assert await desk.found("dog", tags=("plant",)) == []
    assert await desk.found("dog", since_milliseconds=9_999_999_999_999) == []
    assert await desk.found("dog", threshold=0.99) == []


async def test_the_nearest_of_a_conversation_is_found_among_many_nearer_ones_elsewhere(
    desk: Desk, tmp_path: Path
) -> None:
    now = _clock(tmp_path)
    store = await to_thread.run_sync(open_store, (tmp_path / "logs").as_uri(), now, "local")
    opened, _ = await Opening(store, now, TextRedaction()).open("Others")
    other = ConversationId(opened.conversation_id)
    await desk.keep("hound")
    many = json.dumps([{"content": f"hound {number}"} for number in range(NEAR_PIECES)])[1:]
    await to_thread.run_sync(
        _edit, Path(desk.finder.location(desk.home)), '"memories": [', f'"memories": [{many[:-1]},'
    )
    await desk.remake()
    await desk.keep("hound consumes bones slowly", other)
    assert await desk.found("dog", conversation_id=other) == [("hound consumes bones slowly", "meaning")]


async def test_a_changed_memory_is_found_by_what_it_means_now_and_its_old_vector_is_gone(desk: Desk) -> None:
    kept = await desk.keep("hound barks")
    await desk.keep("kettle whistles")
    old = await desk.vector_bytes("hound barks")
    assert await desk.left_of(old) == old != []
    await desk.memories.update(kept.found.memory.memory_id, desk.home, content="lion roars")
    assert await desk.found("dog") == []
    assert not await desk.left_of(old)
    assert await desk.vector_bytes("kettle whistles") != []
    assert await desk.vector_bytes("lion roars") != []


async def test_no_byte_of_the_vector_of_a_forgotten_memory_is_left(desk: Desk) -> None:
    kept = await desk.keep("hound barks")
    old = await desk.vector_bytes("hound barks")
    await desk.memories.delete(kept.found.memory.memory_id, desk.home)
    assert old != []
    assert not await desk.left_of(old)
    assert await desk.found("dog") == []


async def test_a_build_that_read_a_memory_before_it_was_forgotten_writes_no_vector_of_it(desk: Desk) -> None:
    desk.model.fails = True
    kept = await desk.keep("hound barks")
    desk.model.fails = False
    remembered = await to_thread.run_sync(lambda: there(desk.finder.remembered))
    steps = Meaning(remembered.vectors, OneEmbedder(desk.model)).steps(remembered.source)
    await to_thread.run_sync(next, steps)  # the groups are known now
    await desk.memories.delete(kept.found.memory.memory_id, desk.home)
    await to_thread.run_sync(list, steps)
    assert await to_thread.run_sync(remembered.vectors.count, desk.model.name) == 0


async def test_words_are_found_and_kept_when_the_model_fails(desk: Desk) -> None:
    await desk.keep("hound sleeps")
    desk.model.fails = True
    kept = await desk.keep("hound barks")
    assert kept.dimension is None
    assert ("hound barks", "words") in await desk.found("barks")
    desk.model.fails = False
    assert await desk.make() == 2
    assert {content for content, _ in await desk.found("dog")} == {"hound barks", "hound sleeps"}


async def test_a_damaged_file_of_vectors_costs_no_word_and_is_made_anew(desk: Desk) -> None:
    await desk.keep("hound barks")
    await to_thread.run_sync(_damage, desk.finder)
    assert await desk.found("barks") == [("hound barks", "words")]
    await desk.keep("hound sleeps")
    await desk.make()
    assert len(await desk.found("dog")) == 2


async def test_what_was_edited_by_hand_gets_the_vector_of_its_new_text(desk: Desk) -> None:
    await desk.keep("hound barks")
    path = Path(desk.finder.location(desk.home))
    await to_thread.run_sync(_edit, path, "hound barks", "lion roars")
    assert await desk.found("dog") == []
    await desk.remake()
    assert await desk.vector_bytes("hound barks") == []
    assert await desk.vector_bytes("lion roars") != []


async def test_a_long_memory_is_found_by_the_meaning_of_its_end(desk: Desk) -> None:
    await desk.keep(" ".join(f"word{number}" for number in range(600)) + " hound " * 60)
    assert [by for _, by in await desk.found("dog")] == ["meaning"]


def test_without_a_model_nothing_is_opened(tmp_path: Path) -> None:
    from conversation_mcp.embeddings.catalog import Embedders

    finder = FileFinder(tmp_path, Clock())
    assert open_memory_meaning(lambda: Embedders("off", lambda _: None), finder) is None
