"""What the finder of every store promises of words: whatever is typed is data, and what fits best comes first."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fixtures.numbered import Numbered, adding, pending, turn, walk

ANY_TEXT = st.text(st.characters(exclude_categories=()))
OPERATORS = ["AND", "NOT", "NEAR(", "(", ")", '"', "*", "^", ":", "-", "{a b}", "text:", "\0", "\ud800", "“", "'"]


@pytest.mark.parametrize("limit", [1, 4])
def test_pages_of_a_query_show_each_conversation_once_while_others_are_added(shelf: Numbered, limit: int) -> None:
    shuffled = random.Random(4)
    for number in range(12):
        words = ["apples"] * shuffled.randint(1, 4) + ["pears"] * shuffled.randint(0, 3) + ["plums"] * number
        shelf.put(number, " ".join(words))
    assert sorted(walk(shelf, limit, "apples", adding(shelf))) == list(range(12))


def test_what_fits_worse_and_came_after_the_first_page_of_a_query_is_on_none_of_them(
    shelf: Numbered, other: Numbered
) -> None:
    for number in range(3):
        shelf.put(number, "apples?")
    assert walk(shelf, 1, "apples", adding(other, "apples and pears and plums?")) == [2, 1, 0]


def test_what_fits_a_query_best_comes_first_and_the_newest_of_equals(shelf: Numbered) -> None:
    shelf.put(1, "apples apples apples?")
    shelf.put(2, "apples and a great many other things that have nothing to do with them at all?")
    shelf.put(3, "apples and pears?")
    shelf.put(4, "no fruit", "None.")
    shelf.put(5, "apples apples apples?")
    assert shelf.numbers("apples") == [5, 1, 3, 2]
    assert shelf.numbers("apples pears")[0] == 3


def test_the_message_that_fits_best_is_named_and_shown(shelf: Numbered) -> None:
    messages = [
        {"role": "system", "content": "Speak of apples."},
        *turn("What is red?", "Cherries."),
        *turn("And?", "Apples are red."),
    ]
    shelf.put(1, messages=messages)
    [found] = shelf.found("apples")
    assert (found.message_number, found.snippet) == (5, "**Apples** are red.")
    assert shelf.numbers("speak") == []


def test_titles_tags_and_questions_without_an_answer_are_found_too(shelf: Numbered) -> None:
    shelf.put(1, "one?", title="Orchard notes")
    shelf.put(2, "two?", tags=["harvest"])
    shelf.put(3, "three?", pendingTurn=pending("failed", question="What ripens late?", partialText="Quinces"))
    shelf.put(4, "four?", unansweredTurns=[pending("interrupted", question="Which pests?")])
    words = {"orchard": [1], "harvest": [2], "ripens": [3], "quince": [3], "pests": [4]}
    assert {word: shelf.numbers(word) for word in words} == words
    [found] = shelf.found("orchard")
    assert (found.message_number, found.snippet) == (None, "**Orchard** notes")


@pytest.mark.parametrize(
    ("query", "text", "snippet"),
    [
        ("sorting", "It keeps keys sorted.", "It keeps keys **sorted**."),
        ('"keeps keys"', "It keeps keys sorted.", "It **keeps keys** sorted."),
        ('"keys keeps"', "It keeps keys sorted.", None),
        ("sor*", "It keeps keys sorted.", "It keeps keys **sorted**."),
        ("user name", "Where is getUserName?", "Where is **getUserName**?"),
        ("cafe", "un cafe\u0301 noir", "un **cafe\u0301** noir"),
        ("会话", "旧会话保存在文件里", "旧**会话**保存在文件里"),
        ("ติดตั้ง", "วิธีติดตั้งโปรแกรม", "วิธี**ติดตั้ง**โปรแกรม"),
        ("b", "a\0b \ud800 c", "a\0**b** \ufffd c"),
    ],
)
def test_words_are_cut_as_for_every_store(shelf: Numbered, query: str, text: str, snippet: str | None) -> None:
    shelf.put(1, text)
    assert [found.snippet for found in shelf.found(query)] == ([snippet] if snippet else [])


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.lists(st.sampled_from(OPERATORS) | ANY_TEXT, max_size=8).map("".join))
def test_any_query_is_data_and_gets_a_page(shelf: Numbered, query: str) -> None:
    if not shelf.finder.ids():
        for number, text in enumerate(("NEAR and NOT", "col:text", "a b c", "会话", "x*")):
            shelf.put(number, text)
    assert all(found.snippet is not None or not query.strip() for found in shelf.found(query))


@pytest.mark.parametrize(
    "query",
    ["a b c d e f g h i j" * 500, "会话历史" * 2500, '"a" ' * 2500, '"' + "w " * 4000 + '"'],
    ids=["letters", "chinese", "phrases", "phrase"],
)
def test_ten_thousand_characters_are_a_query_like_any_other(shelf: Numbered, query: str) -> None:
    shelf.put(1, "a b c")
    assert shelf.page(query).is_complete


def test_what_was_not_looked_for_is_told(shelf: Numbered) -> None:
    long = " ".join(f"word{number}" for number in range(100))
    assert shelf.page(long).notices == ("the query is long: 36 of its words were not searched for",)
    assert shelf.page("?!").notices == ("the query has no word to search for",)
