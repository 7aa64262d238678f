"""What the finder of every store promises of memories: as they are now, in order, each once, by words and filters."""

from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple
from uuid import uuid4

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fixtures.library import iso_of
from tests.fixtures.numbered import Numbered, named
from tests.fixtures.stores import Clock

from conversation_mcp.records.found import MemoryPage, WantedMemories
from conversation_mcp.records.memory_ids import same_text
from conversation_mcp.searching.likeness import coverage, words_of
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.stores.headway import Headway

TEXTS = ("apples are red", "pears are green", "plums are blue")


class Kept(NamedTuple):
    """A memory; its time comes from its number, so that no two have the same."""

    number: int
    text: str
    tags: tuple[str, ...] = ()

    @property
    def data(self) -> dict[str, object]:
        tags = {"tags": list(self.tags)} if self.tags else {}
        return {"memoryId": f"mem-{self.number}", "content": self.text, "createdAt": iso_of(self.number), **tags}


kept = st.builds(Kept, st.integers(0, 6), st.sampled_from(TEXTS))
states = st.lists(st.lists(kept, max_size=6, unique_by=lambda each: each.number), min_size=1, max_size=4)


def remember(shelf: Numbered, number: int, memories: Sequence[Kept], **fields: object) -> None:
    shelf.put(number, "what?", "that.", memories=[each.data for each in memories], **fields)


def found(page: MemoryPage) -> list[tuple[str, str]]:
    return [(each.memory.memory_id, each.memory.content) for each in page.found]


def shown(shelf: Numbered, limit: int = 50, skip: int = 0, **wanted: Any) -> list[tuple[str, str]]:
    shelf.finder.refresh(Headway())
    return found(shelf.finder.memories(WantedMemories(**wanted), limit, skip))


@pytest.mark.slow
@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=states)
def test_after_any_changes_exactly_what_is_kept_is_found_newest_first(
    store_url: str, clock: Clock, changes: list[list[Kept]]
) -> None:
    shelf = Numbered(open_store(store_url, clock, uuid4().hex, is_durable=False))
    for state in changes:
        remember(shelf, 1, state)
        there = [(f"mem-{each.number}", each.text) for each in sorted(state, reverse=True)]
        assert shown(shelf) == there
        assert sorted(shown(shelf, query="apple")) == sorted(each for each in there if "apples" in each[1])
        assert [shown(shelf, 1, skip) for skip in range(len(there))] == [[each] for each in there]


def test_more_of_the_words_come_first_and_then_the_newest(shelf: Numbered) -> None:
    remember(shelf, 1, [Kept(1, "apples and pears"), Kept(2, "apples"), Kept(3, "plums")])
    remember(shelf, 2, [Kept(4, "apples"), Kept(5, "nothing")])
    assert shown(shelf, query="apples pears") == [
        ("mem-1", "apples and pears"), ("mem-4", "apples"), ("mem-2", "apples")
    ]  # fmt: skip
    assert shown(shelf, query="apples pears", limit=1, skip=1) == [("mem-4", "apples")]
    page = shelf.finder.memories(WantedMemories(query="..."), 5)
    assert (found(page), page.has_more, page.notices) == ([], False, ("the query has no word to search for",))


def test_filters_hold_with_words_and_without(shelf: Numbered) -> None:
    remember(shelf, 1, [Kept(1, "red apples", ("Fruit", "red")), Kept(2, "green apples", ("fruit",))])
    remember(shelf, 2, [Kept(3, "more apples", ("fruit",)), Kept(4, "sour apples")])
    texts = (same_text("more  apples"), same_text("red apples"))
    cases: list[tuple[set[int], dict[str, Any]]] = [
        ({1, 2, 3}, {"tags": ("fruit",)}),
        ({1}, {"tags": ("fruit", "red")}),
        ({1, 2}, {"conversation_id": named(1)}),
        ({2}, {"memory_id": "mem-2"}),
        ({1, 3}, {"same_texts": texts}),
    ]
    for query in ("", "apples"):
        for expected, filters in cases:
            assert {one for one, _ in shown(shelf, query=query, **filters)} == {f"mem-{one}" for one in expected}


def test_what_several_conversations_have_is_found_once_and_pages_go_on_past_it(shelf: Numbered) -> None:
    copies = [Kept(number, f"apples {number}") for number in range(1, 5)]
    for number in range(3):
        remember(shelf, number, copies)
    remember(shelf, 3, [Kept(9, "apples first"), Kept(0, "apples last")])
    whole = [f"mem-{number}" for number in (9, 4, 3, 2, 1, 0)]
    assert [one for one, _ in shown(shelf)] == whole
    assert [one for skip in range(6) for one, _ in shown(shelf, 1, skip)] == whole
    assert [shelf.finder.memories(WantedMemories(), 2, skip).has_more for skip in (0, 2, 4)] == [True, True, False]


def test_those_of_a_conversation_come_and_go_with_it(shelf: Numbered, other: Numbered) -> None:
    remember(shelf, 1, [Kept(1, "apples")])
    remember(shelf, 2, [Kept(2, "apples")], archived=True)
    assert [one for one, _ in shown(shelf, query="apples")] == ["mem-2", "mem-1"]
    trashed = other.delete(1)
    assert [one for one, _ in shown(shelf, query="apples")] == ["mem-2"]
    anyio.run(other.store.trash.restore, trashed)
    assert [one for one, _ in shown(shelf, query="apples")] == ["mem-2", "mem-1"]


def test_all_that_share_enough_of_a_text_are_found_however_common_most_of_its_words_are(shelf: Numbered) -> None:
    chance = Random(7)
    words = [f"fruit{number}" for number in range(12)]
    said = [" ".join(chance.choices(words, range(1, 13), k=7)) for _ in range(60)]
    remember(shelf, 1, [Kept(number, text) for number, text in enumerate(said)])
    for share in (0.2, 3 / 7, 0.7, 1.0):
        for text in (*said[:10], "fruit1 fruit11 fruit3 strange", " ".join(words)):
            own = words_of(text)
            enough = {other for other in said if coverage(own, words_of(other)) >= share}
            assert {other for _, other in shown(shelf, 60, query=text, least_share=share)} >= enough
    assert shown(shelf, query="strange", least_share=0.5) == []


def test_those_that_share_more_rare_words_come_first(shelf: Numbered) -> None:
    common = [Kept(number, f"the apples of day {number}") for number in range(20)]
    near = [Kept(30, "a kettle of the apples"), Kept(31, "a blue kettle of the apples")]
    remember(shelf, 1, [near[1], *common[:10]])
    remember(shelf, 2, [near[0], *common[10:]])
    query, share = "the blue kettle of apples", 0.6
    assert [one for one, _ in shown(shelf, query=query, least_share=share)][:2] == ["mem-31", "mem-30"]
    assert shown(shelf, query=query, least_share=share, conversation_id=named(2))[0][0] == "mem-30"
    remember(shelf, 1, common[:10])
    assert shown(shelf, query=query, least_share=share)[0][0] == "mem-30"
