"""Pages of the index: their order, what they are filtered by, and that none is missed while others are added."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fixtures.library import FIRST, Shelf, id_of, iso_of, numbers_of

from conversation_mcp.disk.locks import LockFolder
from conversation_mcp.records.found import Place, State


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def turn(question: str, answer: str, **facts: object) -> list[dict[str, object]]:
    return [{"role": "user", "content": question, "tool": "search"}, {"role": "assistant", "content": answer, **facts}]


def pending(status: str, **fields: object) -> dict[str, object]:
    return {"question": "and now?", "tool": "deep_research", "status": status, **fields}


def test_the_newest_update_comes_first_whatever_its_spelling(shelf: Shelf) -> None:
    shelf.put(1, "one?", updatedAt="2026-01-31T12:00:00.000Z")
    shelf.put(2, "two?", updatedAt="2026-01-31T12:30:00+01:00")
    shelf.put(3, "three?", updatedAt="2026-01-31T12:00:00.001Z")
    shelf.put(4, "four?", updatedAt="2026-01-31")
    shelf.put(5, "five?", updatedAt="0001-01-01T00:00:00+14:00")
    shelf.put(6, "six?", updatedAt="2026-01-31T12:00:00")
    assert shelf.numbers() == [3, 6, 1, 2, 4, 5]


def walk(shelf: Shelf, limit: int, query: str = "", add: int = 0) -> list[int]:
    """Return what all pages show, while conversations are added before each of them."""
    numbers: list[int] = []
    place: Place | None = None
    while True:
        page = shelf.page(query, limit, place)
        assert page.found
        numbers += numbers_of(page)
        if (place := page.next) is None:
            return numbers
        for _ in range(add):
            shelf.put(10_000 + len(list(shelf.root.iterdir())), "apples, apples and apples?")


@pytest.mark.parametrize("add", [0, 2])
@pytest.mark.parametrize("limit", [1, 3, 4, 10, 11])
def test_pages_show_each_conversation_once_while_others_are_added(shelf: Shelf, limit: int, add: int) -> None:
    for number in range(10):
        shelf.put(number, "apples?", updatedAt=iso_of(number // 3))
    assert walk(shelf, limit, add=add) == list(range(9, -1, -1))


@pytest.mark.parametrize("limit", [1, 4])
def test_pages_of_a_query_show_each_conversation_once_while_others_are_added(shelf: Shelf, limit: int) -> None:
    shuffled = random.Random(4)
    for number in range(12):
        words = ["apples"] * shuffled.randint(1, 4) + ["pears"] * shuffled.randint(0, 3) + ["plums"] * number
        shelf.put(number, " ".join(words))
    shown = walk(shelf, limit, "apples", add=1)
    assert sorted(shown) == list(range(12))


def test_a_page_goes_on_where_a_deleted_conversation_was(shelf: Shelf) -> None:
    for number in range(6):
        shelf.put(number, "apples?")
    first = shelf.page(limit=3)
    shelf.path(3).unlink()
    assert numbers_of(shelf.page(limit=3, place=first.next)) == [2, 1, 0]
    found = shelf.page("apples", limit=2)
    assert numbers_of(found) == [5, 4]
    shelf.path(4).unlink()
    assert numbers_of(shelf.page("apples", limit=9, place=found.next))[-2:] == [1, 0]


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_mix_of_times_and_limits_is_walked_in_order(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    shelf = Shelf(tmp_path_factory.mktemp("mixed"))
    times = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=12))
    for number, time in enumerate(times):
        shelf.put(number, "apples?", updatedAt=iso_of(time))
    expected = sorted(range(len(times)), key=lambda number: (times[number], number), reverse=True)
    assert walk(shelf, data.draw(st.integers(1, 5))) == expected


def test_what_fits_a_query_best_comes_first_and_the_newest_of_equals(shelf: Shelf) -> None:
    shelf.put(1, "apples apples apples?")
    shelf.put(2, "apples and a great many other things that have nothing to do with them at all?")
    shelf.put(3, "apples and pears?")
    shelf.put(4, "no fruit", "None.")
    shelf.put(5, "apples apples apples?")
    assert shelf.numbers("apples") == [5, 1, 3, 2]
    assert shelf.numbers("apples pears")[0] == 3


def test_the_message_that_fits_best_is_named_and_shown(shelf: Shelf) -> None:
    messages = [
        {"role": "system", "content": "Speak of apples."},
        *turn("What is red?", "Cherries."),
        *turn("And?", "Apples are red."),
    ]
    shelf.put(1, messages=messages)
    [found] = shelf.found("apples")
    assert (found.message_number, found.snippet) == (5, "**Apples** are red.")
    assert shelf.numbers("speak") == []


def test_titles_tags_and_questions_without_an_answer_are_found_too(shelf: Shelf) -> None:
    shelf.put(1, "one?", title="Orchard notes")
    shelf.put(2, "two?", tags=["harvest"])
    shelf.put(3, "three?", pendingTurn=pending("failed", question="What ripens late?", partialText="Quinces"))
    shelf.put(4, "four?", unansweredTurns=[pending("interrupted", question="Which pests?")])
    assert [shelf.numbers(word) for word in ("orchard", "harvest", "ripens", "quince", "pests")] == [
        [1],
        [2],
        [3],
        [3],
        [4],
    ]
    [found] = shelf.found("orchard")
    assert (found.message_number, found.snippet) == (None, "**Orchard** notes")


def test_every_filter_alone_and_together(shelf: Shelf) -> None:
    shelf.put(1, messages=turn("one?", "One.", provider="perplexity", preset="fast", model="openai/gpt-6-luna"))
    shelf.put(2, messages=turn("two?", "Two.", provider="local", model="local"), tags=["Café", "to read"])
    shelf.put(3, "three?", pendingTurn=pending("failed", provider="perplexity", model="other/one"))
    assert shelf.numbers(tool="search") == [2, 1]
    assert shelf.numbers(tool="deep_research") == [3]
    assert shelf.numbers(provider="Perplexity") == [3, 1]
    assert [shelf.numbers(model=name) for name in ("openai/gpt-6-luna", "GPT-6-luna", "fast", "one")] == [
        [1],
        [1],
        [1],
        [3],
    ]
    assert shelf.numbers(tag="CAFE\u0301") == [2]
    assert shelf.numbers(tag="read") == []
    assert shelf.numbers(provider="perplexity", tool="search") == [1]
    assert shelf.numbers("two", tag="to read") == [2]
    assert shelf.numbers("one", tag="to read") == []
    assert shelf.numbers(tool="'; DROP TABLE conversations; --") == []


def test_times_are_from_and_until(shelf: Shelf) -> None:
    moments = ["2026-01-30T23:59:59.999Z", "2026-01-31T00:00:00Z", "2026-02-01T00:00:00Z"]
    for number, moment in enumerate(moments):
        shelf.put(number, "apples?", updatedAt=moment)
    midnight, day = FIRST, 86_400_000
    assert shelf.numbers(after=midnight) == [2, 1]
    assert shelf.numbers(before=midnight) == [0]
    assert shelf.numbers("apples", after=midnight, before=midnight + day) == [1]


def states(shelf: Shelf, state: State | None = None) -> dict[int, State | None]:
    page = shelf.page(state=state)
    return dict(zip(numbers_of(page), (found.state for found in page.found), strict=True))


def test_a_state_is_what_is_true_now(shelf: Shelf) -> None:
    shelf.put(1, "one?", "One.")
    shelf.put(2, "two?", pendingTurn=pending("running"))
    shelf.put(3, "three?", pendingTurn=pending("running"))
    shelf.put(4, "four?", pendingTurn=pending("running", background=True, responseId="resp_1"))
    shelf.put(5, "five?", pendingTurn=pending("interrupted"))
    shelf.put(6, "six?", pendingTurn=pending("failed", error={"code": "PROVIDER_QUOTA", "message": "no credit."}))
    shelf.put(7, "seven?", archived=True)
    with LockFolder(shelf.root / ".locks").hold(f"{id_of(2)}.lock", lambda: None, 0):
        assert states(shelf) == {6: "failed", 5: "interrupted", 4: "running", 3: "interrupted", 2: "running", 1: None}
        assert states(shelf, state="running") == {4: "running", 2: "running"}
    assert states(shelf, state="running") == {4: "running"}
    assert states(shelf, state="interrupted") == {5: "interrupted", 3: "interrupted", 2: "interrupted"}
    assert states(shelf, state="failed") == {6: "failed"}
    assert states(shelf, state="archived") == {7: "archived"}


def test_a_state_that_only_locks_tell_fills_its_pages(shelf: Shelf) -> None:
    for number in range(12):
        shelf.put(number, "one?", pendingTurn=pending("running" if number % 3 else "interrupted"))
    locks = LockFolder(shelf.root / ".locks")
    held = [locks.try_lock(f"{id_of(number)}.lock", lambda: None) for number in (1, 2, 10)]
    assert numbers_of(shelf.page(limit=2, state="running")) == [10, 2]
    assert numbers_of(shelf.page(limit=2, state="running", place=shelf.page(limit=2, state="running").next)) == [1]
    assert len(shelf.numbers(state="interrupted")) == 9
    for lock in held:
        assert lock
        lock.release()


def test_archived_conversations_are_hidden_from_lists_and_searches(shelf: Shelf) -> None:
    shelf.put(1, "apples?", archived=True)
    shelf.put(2, "apples?")
    assert (shelf.numbers(), shelf.numbers("apples")) == ([2], [2])
    assert shelf.numbers("apples", state="archived") == [1]
    shelf.put(1, "apples?", archived=False)
    assert shelf.numbers() == [2, 1]


def test_words_that_stand_everywhere_only_order_what_rarer_words_choose(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversation_mcp.stores.files.index.rarity.RANKED_MESSAGES", 10)
    monkeypatch.setattr("conversation_mcp.stores.files.index.queries.RANKED_MESSAGES", 10)
    monkeypatch.setattr("conversation_mcp.stores.files.index.rarity.RARE_MESSAGES", 3)
    for number in range(20):
        shelf.put(number, "common words", tags=["old"] if number < 5 else [])
    shelf.put(3, "common words and a rare one")
    shelf.put(4, "a rare one")
    page = shelf.page("common rare nowhere")
    assert sorted(numbers_of(page)) == [3, 4]
    assert page.notices[0].startswith("very common words of the query were not looked for")
    page = shelf.page("common nowhere")
    assert numbers_of(page) == list(range(19, 9, -1))
    assert page.notices[0].startswith("the words are very common: only the newest")
    assert shelf.numbers("common", tag="old") == [2, 1, 0]
    assert shelf.numbers("common words")[0] == 19
    assert sorted(shelf.numbers('"common words" rare')) == list(range(10, 20))
