"""Words are those of the tokenizer, whether it cuts them itself or not."""

from collections.abc import Iterable
from contextlib import closing
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_mcp.searching.cutting import CREATE, SPOTS, cut
from conversation_mcp.searching.database import connect
from conversation_mcp.searching.words import BOUNDARY

TEXTS = st.text(st.characters(max_codepoint=0x7F) | st.sampled_from(BOUNDARY + "éßşǅ漢\u0301\u212a✅"), max_size=60)


def tokenized(texts: list[str]) -> list[list[str]]:
    words = [list[str]() for _ in texts]
    with closing(connect(":memory:")) as database:
        for statement in CREATE:
            database.execute(statement)
        database.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(texts))
        spots = cast("Iterable[tuple[int, str | None]]", database.execute(SPOTS))
        for row, word in spots:
            if word:
                words[row].append(word)
    return words


@given(st.lists(TEXTS, max_size=5))
def test_texts_are_cut_as_the_tokenizer_cuts_them(texts: list[str]) -> None:
    assert cut(texts) == tokenized(texts)


@pytest.mark.parametrize(
    "text",
    ["Snake_case getUserName v1.2.3 C++ a-b", "a\0b", "x" * 40_000, f"walks {BOUNDARY} walk", "Bäume and trees", ""],
)
def test_words_are_those_of_the_tokenizer(text: str) -> None:
    assert cut(["a first one", text]) == tokenized(["a first one", text])
