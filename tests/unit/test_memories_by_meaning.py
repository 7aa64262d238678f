"""Memories are found by words and by meaning together, in every store that has vectors; what is forgotten leaves none."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from anyio import to_thread
from tests.fixtures.remembered import Desk, desk_in, edit, settled_clock
from tests.fixtures.stores import Clock
from tests.fixtures.vectors import OneEmbedder, there

from conversation_mcp.conversations.memory_meaning import NEAR_PIECES, open_memory_meaning
from conversation_mcp.conversations.opening import Opening
from conversation_mcp.embeddings.meaning import Meaning
from conversation_mcp.records.models import ConversationId
from conversation_mcp.redacting.texts import TextRedaction
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.stores.files.finder import FileFinder

FILLERS = tuple(f"topic{number} of{number} nothing{number}" for number in range(6))


@pytest.fixture
async def desk(tmp_path: Path, meant_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Desk]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with desk_in(tmp_path, url=meant_url) as opened:
        yield opened


@pytest.fixture
async def in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Desk]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with desk_in(tmp_path) as opened:
        yield opened


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
    in_files: Desk, tmp_path: Path
) -> None:
    now = settled_clock(tmp_path)
    store = await to_thread.run_sync(open_store, (tmp_path / "logs").as_uri(), now, "local")
    opened, _ = await Opening(store, now, TextRedaction()).open("Others")
    other = ConversationId(opened.conversation_id)
    await in_files.keep("hound")
    many = json.dumps([{"content": f"hound {number}"} for number in range(NEAR_PIECES)])[1:]
    await to_thread.run_sync(
        edit, Path(in_files.finder.location(in_files.home)), '"memories": [', f'"memories": [{many[:-1]},'
    )
    await in_files.remake()
    await in_files.keep("hound consumes bones slowly", other)
    assert await in_files.found("dog", conversation_id=other) == [("hound consumes bones slowly", "meaning")]


async def test_a_changed_or_forgotten_memory_has_no_vector_of_its_old_text(desk: Desk) -> None:
    kept = await desk.keep("hound barks")
    assert await desk.vector_count() == 1
    await desk.memories.update(kept.found.memory.memory_id, desk.home, content="lion roars")
    assert (await desk.found("dog"), await desk.vector_count()) == ([], 1)
    await desk.memories.delete(kept.found.memory.memory_id, desk.home)
    assert (await desk.found("lion"), await desk.vector_count()) == ([], 0)


async def test_a_text_that_two_conversations_have_keeps_its_vector_until_both_forget_it(
    desk: Desk, meant_url: str, tmp_path: Path
) -> None:
    await desk.keep("hound barks")
    store = await to_thread.run_sync(open_store, meant_url, settled_clock(tmp_path), "local")
    second = (await store.load(desk.home)).changed(conversation_id=await store.reserve())
    await store.create(second)
    await desk.remake()
    assert await desk.vector_count() == 1
    first_trashed = await store.trash.put(desk.home)
    await desk.remake()
    assert (len(await desk.found("dog")), await desk.vector_count()) == (1, 1)
    await store.trash.remove(first_trashed)
    await store.trash.remove(await store.trash.put(ConversationId(second.conversation_id)))
    await desk.remake()
    assert (await desk.found("dog"), await desk.vector_count()) == ([], 0)


async def test_a_changed_memory_is_found_by_what_it_means_now_and_its_old_vector_is_gone(in_files: Desk) -> None:
    kept = await in_files.keep("hound barks")
    await in_files.keep("kettle whistles")
    old = await in_files.vector_bytes("hound barks")
    assert await in_files.left_of(old) == old != []
    await in_files.memories.update(kept.found.memory.memory_id, in_files.home, content="lion roars")
    assert await in_files.found("dog") == []
    assert not await in_files.left_of(old)
    assert await in_files.vector_bytes("kettle whistles") != []
    assert await in_files.vector_bytes("lion roars") != []


async def test_no_byte_of_the_vector_of_a_forgotten_memory_is_left(in_files: Desk) -> None:
    kept = await in_files.keep("hound barks")
    old = await in_files.vector_bytes("hound barks")
    await in_files.memories.delete(kept.found.memory.memory_id, in_files.home)
    assert old != []
    assert not await in_files.left_of(old)
    assert await in_files.found("dog") == []


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


async def test_a_damaged_file_of_vectors_costs_no_word_and_is_made_anew(in_files: Desk) -> None:
    await in_files.keep("hound barks")
    await in_files.damage_vectors()
    assert await in_files.found("barks") == [("hound barks", "words")]
    await in_files.keep("hound sleeps")
    await in_files.make()
    assert len(await in_files.found("dog")) == 2


async def test_what_was_edited_by_hand_gets_the_vector_of_its_new_text(in_files: Desk) -> None:
    await in_files.keep("hound barks")
    path = Path(in_files.finder.location(in_files.home))
    await to_thread.run_sync(edit, path, "hound barks", "lion roars")
    assert await in_files.found("dog") == []
    await in_files.remake()
    assert await in_files.vector_bytes("hound barks") == []
    assert await in_files.vector_bytes("lion roars") != []


async def test_a_long_memory_is_found_by_the_meaning_of_its_end(desk: Desk) -> None:
    await desk.keep(" ".join(f"word{number}" for number in range(600)) + " hound " * 60)
    assert [by for _, by in await desk.found("dog")] == ["meaning"]


def test_without_a_model_nothing_is_opened(tmp_path: Path) -> None:
    from conversation_mcp.embeddings.catalog import Embedders

    finder = FileFinder(tmp_path, Clock())
    assert open_memory_meaning(lambda: Embedders("off", lambda _: None), finder) is None
