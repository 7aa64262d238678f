"""What the finder of every store promises: order, filters, words, and that no page misses what there is."""

import json
from datetime import timedelta
from uuid import uuid4

import anyio
import pytest
from anyio import create_task_group, to_thread
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fixtures.encrypted_store import SCHEME
from tests.fixtures.library import FIRST, id_of, iso_of, numbers_of, wanted_of
from tests.fixtures.numbered import Numbered, adding, named, pending, turn, walk
from tests.fixtures.stores import UNKNOWN, Clock, NewStore, started

from conversation_mcp.clock import utc_now
from conversation_mcp.errors import ConversationNotFoundError, InvalidInputError
from conversation_mcp.records.found import Page, State, Wanted
from conversation_mcp.records.ids import EPOCH
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.stores.finder import Finder
from conversation_mcp.stores.headway import Headway


def test_an_empty_place_has_no_conversations(shelf: Numbered, alone: Finder) -> None:
    assert shelf.page() == Page((), None, 0, ())
    assert alone.newest() == alone.largest() == Page((), None, 0, ())
    assert list(alone.contents(Headway(), [])) == alone.ids() == []


def test_the_newest_update_comes_first_whatever_its_spelling(shelf: Numbered, alone: Finder) -> None:
    shelf.put(1, "one?", updatedAt="2026-01-31T12:00:00.000Z")
    shelf.put(2, "two?", updatedAt="2026-01-31T12:30:00+01:00")
    shelf.put(3, "three?", updatedAt="2026-01-31T12:00:00.001Z")
    shelf.put(4, "four?", updatedAt="2026-01-31")
    shelf.put(5, "five?", updatedAt="0001-01-01T00:00:00+14:00")
    shelf.put(6, "six?", updatedAt="2026-01-31T12:00:00")
    assert shelf.numbers() == numbers_of(alone.newest()) == [3, 6, 1, 2, 4, 5]


@pytest.mark.parametrize("adds", [False, True])
@pytest.mark.parametrize("limit", [1, 3, 4, 10, 11])
def test_pages_show_each_conversation_once_while_others_are_added(
    shelf: Numbered, other: Numbered, limit: int, adds: bool
) -> None:
    for number in range(10):
        shelf.put(number, "apples?", updatedAt=iso_of(number // 3))
    assert walk(shelf, limit, add=adding(other) if adds else None) == list(range(9, -1, -1))


def test_a_page_goes_on_where_a_deleted_conversation_was(shelf: Numbered, other: Numbered) -> None:
    for number in range(6):
        shelf.put(number, "apples?")
    first = shelf.page(limit=3)
    other.delete(3)
    assert numbers_of(shelf.page(limit=3, place=first.next)) == [2, 1, 0]
    found = shelf.page("apples", limit=2)
    assert numbers_of(found) == [5, 4]
    other.delete(4)
    assert numbers_of(shelf.page("apples", limit=9, place=found.next))[-2:] == [1, 0]


@pytest.mark.slow
@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(times=st.lists(st.integers(0, 5), min_size=1, max_size=12), limit=st.integers(1, 5))
def test_any_mix_of_times_and_limits_is_walked_in_order(
    store_url: str, clock: Clock, times: list[int], limit: int
) -> None:
    shelf = Numbered(open_store(store_url, clock, uuid4().hex, is_durable=False))
    for number, time in enumerate(times):
        shelf.put(number, "apples?", updatedAt=iso_of(time))
    expected = sorted(range(len(times)), key=lambda number: (times[number], number), reverse=True)
    assert walk(shelf, limit) == expected
    assert numbers_of(shelf.finder.newest(limit)) == expected[:limit]
    joined = [number for page in shelf.finder.every_newest(limit, Headway()) for number in numbers_of(page)]
    assert joined == expected[:limit]


def test_what_changed_after_a_look_is_shown_as_it_is_and_what_was_added_may_be_missing(
    shelf: Numbered, other: Numbered
) -> None:
    for number in range(4):
        shelf.put(number, "apples?")
    shelf.finder.refresh(Headway())
    other.put(1, "apples?", title="Another title")
    other.put(2, "pears?")
    other.delete(3)
    page = shelf.finder.page(wanted_of("apples"), 10)
    assert numbers_of(page) == [1, 0]
    assert page.found[0].title == "Another title"
    assert set(numbers_of(shelf.finder.page(wanted_of(), 10))) == {0, 1, 2}


def test_what_was_written_here_is_found_without_a_look_at_everything(shelf: Numbered) -> None:
    shelf.put(1, "apples?")
    shelf.finder.refresh(Headway())
    shelf.put(2, "apples?")
    shelf.put(3, "apples?")
    trashed = shelf.delete(3)
    shelf.finder.take_in_written()
    assert numbers_of(shelf.finder.page(wanted_of("apples"), 10)) == [2, 1]
    anyio.run(shelf.store.trash.restore, trashed)
    shelf.finder.take_in_written()
    assert numbers_of(shelf.finder.page(wanted_of("apples"), 10)) == [3, 2, 1]


def test_every_filter_alone_and_together(shelf: Numbered) -> None:
    shelf.put(1, messages=turn("one?", "One.", provider="perplexity", preset="fast", model="openai/gpt-6-luna"))
    shelf.put(2, messages=turn("two?", "Two.", provider="local", model="local"), tags=["Café", "to read"])
    shelf.put(3, "three?", pendingTurn=pending("failed", provider="perplexity", model="other/one"))
    assert shelf.numbers(tool="search") == [2, 1]
    assert shelf.numbers(tool="deep_research") == [3]
    assert shelf.numbers(provider="Perplexity") == [3, 1]
    models = {"openai/gpt-6-luna": [1], "GPT-6-luna": [1], "fast": [1], "one": [3]}
    assert {name: shelf.numbers(model=name) for name in models} == models
    assert shelf.numbers(tag="CAFE\u0301") == [2]
    assert shelf.numbers(tag="read") == []
    assert shelf.numbers(provider="perplexity", tool="search") == [1]
    assert shelf.numbers("two", tag="to read") == [2]
    assert shelf.numbers("one", tag="to read") == []
    assert shelf.numbers(tool="'; DROP TABLE conversations; --") == []


def test_times_are_from_and_until(shelf: Numbered) -> None:
    moments = ["2026-01-30T23:59:59.999Z", "2026-01-31T00:00:00Z", "2026-02-01T00:00:00Z"]
    for number, moment in enumerate(moments):
        shelf.put(number, "apples?", updatedAt=moment)
    midnight, day = FIRST, 86_400_000
    assert shelf.numbers(after=midnight) == [2, 1]
    assert shelf.numbers(before=midnight) == [0]
    assert shelf.numbers("apples", after=midnight, before=midnight + day) == [1]


def states(shelf: Numbered, state: State | None = None) -> dict[int, State | None]:
    page = shelf.page(state=state)
    return dict(zip(numbers_of(page), (found.state for found in page.found), strict=True))


def test_a_state_is_what_is_true_now(shelf: Numbered, other: Numbered, alone: Finder) -> None:
    shelf.put(1, "one?", "One.")
    shelf.put(2, "two?", pendingTurn=pending("running"))
    shelf.put(3, "three?", pendingTurn=pending("running"))
    shelf.put(4, "four?", pendingTurn=pending("running", background=True, responseId="resp_1"))
    shelf.put(5, "five?", pendingTurn=pending("interrupted"))
    shelf.put(6, "six?", pendingTurn=pending("failed", error={"code": "PROVIDER_QUOTA", "message": "no credit."}))
    shelf.put(7, "seven?", archived=True)
    now = {6: "failed", 5: "interrupted", 4: "running", 3: "interrupted", 2: "running", 1: None}
    lock = other.begin_turn(2)
    assert states(shelf) == now
    assert [found.state for found in alone.newest().found] == list(now.values())
    assert states(shelf, state="running") == {4: "running", 2: "running"}
    assert [alone.is_being_answered(id_of(number)) for number in (2, 3)] == [True, False]
    anyio.run(lock.release)
    assert states(shelf, state="running") == {4: "running"}
    assert states(shelf, state="interrupted") == {5: "interrupted", 3: "interrupted", 2: "interrupted"}
    assert states(shelf, state="failed") == {6: "failed"}
    assert states(shelf, state="archived") == {7: "archived"}


def test_a_state_that_only_locks_tell_fills_its_pages(shelf: Numbered) -> None:
    for number in range(12):
        shelf.put(number, "one?", pendingTurn=pending("running" if number % 3 else "interrupted"))
    for number in (1, 2, 10):
        shelf.begin_turn(number)
    first = shelf.page(limit=2, state="running")
    assert numbers_of(first) == [10, 2]
    assert numbers_of(shelf.page(limit=2, state="running", place=first.next)) == [1]
    assert len(shelf.numbers(state="interrupted")) == 9


def test_archived_conversations_are_hidden_from_lists_and_searches(shelf: Numbered, alone: Finder) -> None:
    shelf.put(1, "apples?", archived=True)
    shelf.put(2, "apples?")
    assert (
        shelf.numbers() == shelf.numbers("apples") == numbers_of(alone.newest()) == numbers_of(alone.largest()) == [2]
    )
    assert shelf.numbers("apples", state="archived") == numbers_of(alone.newest(archived=True)) == [1]
    shelf.put(1, "apples?", archived=False)
    assert sorted(shelf.numbers()) == [1, 2]


def test_the_newest_of_those_that_begin_alike_are_found_by_that(shelf: Numbered, alone: Finder) -> None:
    for number in (1, 2, 700, 701):
        shelf.put(number, "apples?")
    begin = id_of(700)[:-1]
    assert numbers_of(alone.newest(begins=begin)) == [701, 700]
    assert numbers_of(alone.newest(1, begins=begin)) == [701]
    assert alone.ids(begin) == [id_of(700), id_of(701)]
    assert alone.ids() == [id_of(number) for number in (1, 2, 700, 701)]
    assert alone.ids("2") == alone.ids()
    assert alone.ids("1") == []


def test_the_largest_come_first(shelf: Numbered, alone: Finder, store_url: str) -> None:
    for number, size in enumerate((10, 30_000, 500)):
        shelf.put(number, "apples?", note="x" * size)
    page = alone.largest()
    assert numbers_of(page) == [1, 2, 0]
    read = [len(alone.read(ConversationId(found.conversation_id))) for found in page.found]
    sizes = [found.size_bytes for found in page.found]
    assert sizes == read or (store_url.startswith(SCHEME) and min(sizes) > min(read))
    assert numbers_of(alone.largest(2)) == [1, 2]


def test_facts_are_those_of_the_conversations_that_are_there(shelf: Numbered, alone: Finder) -> None:
    shelf.put(1, "one?", "One.", title="First")
    shelf.put(2, "two?")
    wanted = [named(2), UNKNOWN, named(1)]
    assert [(facts.title, facts.turn_count) for facts in alone.facts(wanted)] == [("two?", 0), ("First", 1)]


def test_what_is_known_without_reading_is_never_out_of_date(shelf: Numbered, other: Numbered, clock: Clock) -> None:
    shelf.put(1, "one?", title="First")
    shelf.put(2, "two?", archived=True)
    clock.moment = utc_now() + timedelta(hours=1)  # a file that was just written may change unnoticed
    shelf.finder.refresh(Headway())
    titles = {each: (found := shelf.finder.known(named(each))) and found.title for each in (1, 2, 3)}
    assert titles == {1: "First", 2: "two?", 3: None}
    other.put(1, "one?", title="Second")
    changed = shelf.finder.known(named(1))
    assert changed is None or changed.title == "Second"
    other.delete(1)
    assert shelf.finder.known(named(1)) is None


def test_contents_are_everything_there_is_archived_and_in_the_trash(shelf: Numbered, alone: Finder) -> None:
    shelf.put(1, "one?", note={"mine": [None]})
    shelf.put(2, "two?", archived=True)
    shelf.put(3, "three?")
    shelf.delete(3)
    headway, problems = Headway(), list[str]()
    found = dict(alone.contents(headway, problems))
    assert {name: data["messages"][0]["content"] for name, data in found.items()} == {
        id_of(1): "one?",
        id_of(2): "two?",
        id_of(3): "three?",
    }
    assert found[named(1)]["note"] == {"mine": [None]}
    assert (headway.total, headway.seen, problems) == (3, 3, [])
    assert dict(alone.contents(Headway(), problems, EPOCH)) == found


def test_what_is_read_is_the_file_that_a_person_would_find(shelf: Numbered, alone: Finder) -> None:
    shelf.put(1, "one?", note="日本")
    data = json.loads(alone.read(named(1)))
    assert data == anyio.run(shelf.store.load, named(1)).data()
    assert data["note"] == "日本"
    anyio.run(shelf.store.reserve_this, named(2))
    for unknown in (UNKNOWN, named(2)):
        with pytest.raises(ConversationNotFoundError):
            alone.read(unknown)
    with pytest.raises(InvalidInputError):
        alone.read(ConversationId("../x"))
    assert alone.location(id_of(1)) == shelf.store.location(named(1))


def test_what_was_deleted_for_good_is_in_no_list_and_erasing_it_again_is_harmless(
    shelf: Numbered, other: Numbered, alone: Finder
) -> None:
    shelf.put(1, "apples?")
    shelf.put(2, "apples?")
    assert other.numbers("apples") == [2, 1]
    trashed = shelf.delete(1)
    for _ in range(2):
        alone.erase({named(1)})
    anyio.run(shelf.store.trash.remove, trashed)
    assert numbers_of(other.finder.page(wanted_of("apples"), 10)) == [2]
    assert alone.ids() == [named(2)]
    assert len(list(alone.contents(Headway(), []))) == 1


async def test_what_another_process_wrote_is_found_after_freshening(store: Store, new_store: NewStore) -> None:
    conversation_id = await started(new_store(), "apples?")
    async with create_task_group() as group:
        group.start_soon(store.run)
        assert await store.freshen(60, silent) is None
        group.cancel_scope.cancel()
    page = await to_thread.run_sync(store.finder.page, Wanted("apples"), 5)
    assert [found.conversation_id for found in page.found] == [conversation_id]


async def silent(_text: str) -> None:
    """Hear nothing."""
