"""A program can give the vector of a memory along; what is none is refused, and one of another text never counts."""

import json
from base64 import b64encode
from collections.abc import AsyncGenerator
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from anyio import to_thread
from tests.fixtures.remembered import Desk, Synonyms, desk_in, edit
from tests.fixtures.serving import data_of, error_of, serving
from tests.fixtures.stores import started

from conversation_mcp.conversations.memory_embedding import embedding_of
from conversation_mcp.conversations.rewriting import cleaned
from conversation_mcp.errors import EmbeddingsError, InvalidInputError
from conversation_mcp.records.memories import Memory
from conversation_mcp.records.memory_facts import memories_of
from conversation_mcp.records.memory_ids import same_text
from conversation_mcp.records.models import Conversation
from conversation_mcp.redacting.texts import TextRedaction
from conversation_mcp.stores.base import Store

MODEL = Synonyms()
SIZE = MODEL.dimensions
STRANGE = "zxqv"
"""A text of which the model knows nothing that the question has."""


def vector_of(text: str) -> list[float]:
    return MODEL.embed_passages([text])[0].tolist()


def stored_in(desk: Desk) -> dict[str, Any]:
    [memory] = json.loads(Path(desk.finder.location(desk.home)).read_text())["memories"]
    return memory


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Desk]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with desk_in(tmp_path) as opened:
        yield opened


@pytest.fixture
async def wherever(tmp_path: Path, meant_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Desk]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with desk_in(tmp_path, url=meant_url) as opened:
        yield opened


async def test_a_vector_that_is_given_finds_the_memory_and_none_is_made(wherever: Desk) -> None:
    kept = await wherever.keep(STRANGE, embedding=vector_of("hound barks"))
    assert kept.dimension == SIZE
    assert wherever.model.texts == []
    assert await wherever.found("dog") == [(STRANGE, "meaning")]


async def test_a_given_vector_counts_for_near_duplicates_too(wherever: Desk) -> None:
    first = await wherever.keep("hound barks")
    second = await wherever.keep(STRANGE, embedding=[7 * number for number in vector_of("hound barks")])
    assert [each.found.memory.memory_id for each in second.alike] == [first.found.memory.memory_id]


async def test_a_given_vector_is_in_the_file_and_found_again_by_an_index_that_is_made_anew(desk: Desk) -> None:
    await desk.keep(STRANGE, embedding=vector_of("hound barks"))
    assert stored_in(desk)["embedding"].keys() == {"model", "textHash", "vector"}
    await desk.damage_vectors()
    await desk.remake()
    assert await desk.found("dog") == [(STRANGE, "meaning")]
    assert STRANGE not in desk.model.texts


async def test_a_given_vector_of_another_model_gives_way_to_one_that_is_made(desk: Desk) -> None:
    await desk.keep(STRANGE, embedding=vector_of("hound barks"))
    path = Path(desk.finder.location(desk.home))
    await to_thread.run_sync(edit, path, '"model": "words"', '"model": "others"')
    await desk.remake()
    assert await desk.found("dog") == []
    assert await desk.found(STRANGE) == [(STRANGE, "both")]


async def test_other_tags_keep_a_given_vector_and_another_text_drops_it(desk: Desk) -> None:
    kept = await desk.keep(STRANGE, embedding=vector_of("hound barks"))
    name = kept.found.memory.memory_id
    await desk.memories.update(name, desk.home, tags=("animal",), content=f" {STRANGE} ")
    assert await desk.found("dog") == [(STRANGE, "meaning")]
    old = await desk.vector_bytes(STRANGE)
    await desk.memories.update(name, desk.home, content="lion roars")
    assert "embedding" not in stored_in(desk)
    assert await desk.found("dog") == []
    assert old != []
    assert not await desk.left_of(old)


async def test_a_given_vector_is_forgotten_with_its_memory(desk: Desk) -> None:
    kept = await desk.keep(STRANGE, embedding=vector_of("hound barks"))
    old = await desk.vector_bytes(STRANGE)
    await desk.memories.delete(kept.found.memory.memory_id, desk.home)
    assert "memories" not in json.loads(Path(desk.finder.location(desk.home)).read_text())
    assert old != []
    assert not await desk.left_of(old)


async def test_a_text_that_was_edited_by_hand_gets_a_vector_of_its_own(desk: Desk) -> None:
    await desk.keep(STRANGE, embedding=vector_of("hound barks"))
    await to_thread.run_sync(edit, Path(desk.finder.location(desk.home)), STRANGE, "lion roars")
    await desk.remake()
    assert await desk.found("dog") == []
    assert await desk.found("lion") == [("lion roars", "both")]


NOT_A_NUMBER, INFINITE = float("nan"), float("inf")
UNUSABLE = {
    "short": [1.0] * (SIZE - 1),
    "long": [1.0] * (SIZE + 1),
    "zeros": [0.0] * SIZE,
    "NaN": [NOT_A_NUMBER] * SIZE,
    "infinite": [INFINITE, *[1.0] * (SIZE - 1)],
}


@pytest.mark.parametrize("written", [*UNUSABLE.values(), "?", "AAAA", "ü"], ids=[*UNUSABLE, "sign", "bytes", "umlaut"])
async def test_what_was_written_by_hand_and_is_no_vector_is_as_good_as_none(
    desk: Desk, written: list[float] | str
) -> None:
    await desk.keep("hound barks", embedding=vector_of("lion roars"))
    vector = written if isinstance(written, str) else b64encode(pack(f"<{len(written)}f", *written)).decode()
    await to_thread.run_sync(
        edit, Path(desk.finder.location(desk.home)), stored_in(desk)["embedding"]["vector"], vector
    )
    await desk.remake()
    assert await desk.found("dog") == [("hound barks", "meaning")]
    assert await desk.found("barks") == [("hound barks", "both")]


async def test_numbers_that_are_hardly_numbers_are_brought_to_length_one(desk: Desk) -> None:
    for number, largest in enumerate((1e308, -1e308, 5e-324, 3, 10**300)):
        kept = await desk.keep(f"{STRANGE} {number}", embedding=[largest, *[0] * (SIZE - 1)])
        assert kept.dimension == SIZE


REFUSED = {
    "zeros": ([0] * SIZE, "all are 0"),
    "short": ([1.0] * (SIZE - 1), f"it has {SIZE - 1}"),
    "huge": ([1.0] * 1_000_000, "it has 1,000,000"),
    "NaN": ([1.0, NOT_A_NUMBER, *[1.0] * (SIZE - 2)], "item 2 is not a finite number"),
    "infinite": ([INFINITE] * SIZE, "item 1 is not"),
    "text": (["Infinity"] * SIZE, "item 1 is not"),
    "flag": ([True] * SIZE, "item 1 is not"),
    "null": ([None] * SIZE, "item 1 is not"),
    "nested": ([[1.0]] * SIZE, "item 1 is not"),
    "beyond floats": ([10**400] * SIZE, "item 1 is not"),
}


@pytest.mark.parametrize(("given", "why"), REFUSED.values(), ids=REFUSED)
async def test_what_is_no_vector_of_the_model_is_refused_and_nothing_is_stored(
    desk: Desk, given: list[Any], why: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"a vector of words: {SIZE} finite numbers .*{why}") as refused:
        await desk.keep(STRANGE, embedding=given)
    assert refused.value.field == "embedding"
    assert "memories" not in json.loads(Path(desk.finder.location(desk.home)).read_text())


async def test_of_a_text_in_which_something_is_replaced_no_vector_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with desk_in(tmp_path, TextRedaction(("emails",))) as careful:
        kept = await careful.keep("Write to ann@example.org", embedding=vector_of("hound"))
        assert "embedding" not in stored_in(careful)
        assert any("embedding was not kept" in notice for notice in kept.notices)


def test_a_conversation_that_is_redacted_loses_the_vectors_of_what_was_replaced_alone() -> None:
    texts = "Write to ann@example.org", "hound barks"
    vector = b64encode(pack(f"<{SIZE}f", *vector_of("hound"))).decode()
    embeddings = [{"model": "words", "textHash": same_text(text), "vector": vector} for text in texts]
    memories = [{"content": text, "embedding": one} for text, one in zip(texts, embeddings, strict=True)]
    times = {"createdAt": "2026-01-31T00:00:00Z", "updatedAt": "2026-01-31T00:00:00Z"}
    data = {
        "conversationId": "20260131-1769817600123",
        **times,
        "messageCount": 0,
        "messages": [],
        "memories": memories,
    }
    all_kinds = TextRedaction(("keys", "cards", "ibans", "emails", "phones")).counting()
    redacted, _ = cleaned(Conversation.model_validate(data, by_alias=True), {}, all_kinds)
    kept = [each.data().get("embedding") for each in redacted.memories or ()]
    assert kept == [None, embeddings[1]]


async def test_every_store_keeps_a_given_vector(store: Store) -> None:
    home = await started(store)
    embedding = {"model": "words", "textHash": same_text(STRANGE), "vector": "AACAPw=="}
    memory = Memory.model_validate({"memoryId": "m-1", "content": STRANGE, "embedding": embedding}, by_alias=True)
    await store.update(home, lambda stored, _: stored.changed(memories=(memory,)))
    assert (await store.load(home)).data()["memories"][0]["embedding"] == embedding


def test_searches_see_a_given_vector_only_of_the_text_as_it_is_now() -> None:
    embedding = {"model": "words", "textHash": same_text(STRANGE), "vector": "AACAPw=="}
    both = [{"content": f" {STRANGE}", "embedding": embedding}, {"content": "Other", "embedding": embedding}]
    seen = memories_of({"createdAt": "now", "memories": both}, lambda _: 0)
    assert [each.embedding for each in seen] == [embedding, None]


class Away(Synonyms):
    """Is at a server that does not answer."""

    def __getattribute__(self, name: str) -> Any:
        if name == "dimensions":
            message = "it cannot be reached."
            raise EmbeddingsError(message)
        return super().__getattribute__(name)


async def test_where_the_model_does_not_tell_how_long_its_vectors_are_none_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with desk_in(tmp_path, model=Away()) as desk:
        with pytest.raises(EmbeddingsError, match="words does not say now how long its vectors are"):
            await desk.keep(STRANGE, embedding=[1.0])


async def test_where_words_alone_are_searched_for_the_call_is_refused_and_says_what_to_set(tmp_path: Path) -> None:
    async with serving(tmp_path, tools=("memories",), embeddings="off") as client:
        given = {"content": "hound", "embedding": [1.0] * SIZE}
        refused = error_of(await client.call_tool("store_memory", given))
        assert refused["code"] == "VALIDATION_ERROR"
        assert "embedding" in refused["message"]
        assert "CONVERSATION_MCP_EMBEDDINGS" in refused["message"]
        data_of(await client.call_tool("store_memory", {**given, "embedding": []}))
        for wrong in ("[1.0]", 1.0, {"a": 1}):
            result = await client.call_tool("store_memory", {**given, "embedding": wrong})
            assert error_of(result)["code"] == "VALIDATION_ERROR"


def test_a_store_without_vectors_says_that_it_takes_none() -> None:
    with pytest.raises(InvalidInputError, match="the store finds memories by their words alone"):
        embedding_of([1.0], STRANGE, None, knows_vectors=False)
