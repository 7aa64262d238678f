import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversation_mcp.text import FTS_TOKENIZER, cut, fold, index_text, match_query, shorten, storable

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def finds(text: str, expression: str) -> bool:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f'CREATE VIRTUAL TABLE t USING fts5(body, tokenize="{FTS_TOKENIZER}")')
        database.execute("INSERT INTO t VALUES (?)", (index_text(text),))
        return bool(database.execute("SELECT 1 FROM t WHERE t MATCH ?", (expression,)).fetchall())


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("plain é 字 🚀\0\x1b\u2028", "plain é 字 🚀\0\x1b\u2028"),
        ("\ud83d\ude80", "🚀"),
        ("a\ud83db", "a\ufffdb"),
        ("\ude80\ud83d", "\ufffd\ufffd"),
    ],
)
def test_storable_text_has_whole_characters_only(text: str, stored: str) -> None:
    assert storable(text) == stored


@settings(deadline=None)
@given(ANY_TEXT)
def test_storable_text_can_be_written_and_stays_as_it_is(text: str) -> None:
    assert storable(text).encode().decode() == storable(text)
    assert storable(storable(text)) == storable(text)


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("as it is", 8, "as it is"),
        ("  on\none \t line ", 20, "on one line"),
        ("cut at a word please", 16, "cut at a word…"),
        ("a verylongwordwithoutend", 10, "a verylon…"),
        ("unbrokenword", 5, "unbr…"),
    ],
)
def test_a_long_text_is_shortened_to_one_line(text: str, limit: int, short: str) -> None:
    assert shorten(text, limit) == short


@settings(deadline=None)
@given(st.text(), st.integers(1, 50))
def test_a_shortened_text_keeps_to_its_limit(text: str, limit: int) -> None:
    assert len(shorten(text, limit)) <= limit
    assert "\n" not in shorten(text, limit)


@pytest.mark.parametrize(
    ("text", "limit", "start"),
    [
        ("it fits", 7, "it fits"),
        ("one\n\ntwo three\nfour", 15, "one\n\ntwo three"),
        ("first part\n\nnext one", 15, "first part"),
        ("a few more words", 14, "a few more"),
        ("early break thenalongword", 24, "early break thenalongwor"),
        ("unbroken", 4, "unbr"),
    ],
)
def test_a_text_is_cut_where_a_paragraph_line_or_word_ends(text: str, limit: int, start: str) -> None:
    assert cut(text, limit) == start


@settings(deadline=None)
@given(st.text("ab \n"), st.integers(1, 50))
def test_a_cut_text_is_the_beginning_of_the_text_and_keeps_to_its_limit(text: str, limit: int) -> None:
    assert text.startswith(cut(text, limit))
    assert len(cut(text, limit)) <= limit


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CAFÉ", "cafe\u0301"),
        ("\uff21\uff22\uff23", "abc"),
        ("ｶﾞ", "ガ"),
        ("Straße", "STRASSE"),
        ("don\u2019t", "Don't"),
        ("in\u00adstall", "install"),
        ("⚠\ufe0f", "⚠"),
        ("a\0b", "a b"),
        ("\ud83d\ude80", "🚀"),
    ],
)
def test_texts_that_read_alike_fold_alike(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@settings(deadline=None)
@given(ANY_TEXT)
def test_folded_text_can_be_bound_to_a_query(text: str) -> None:
    assert "\0" not in fold(text)
    with closing(sqlite3.connect(":memory:")) as database:
        assert database.execute("SELECT length(?)", (fold(text),)).fetchone() == (len(fold(text)),)


def test_characters_of_unspaced_scripts_and_symbols_are_indexed_one_by_one() -> None:
    assert index_text("重跑gen-itgc后 ไป ✅Done").split() == ["重", "跑", "gen-itgc", "后", "ไ", "ป", "✅", "done"]


@pytest.mark.parametrize(
    ("query", "expression"),
    [
        ("How do I?", '"how" OR "do" OR "i?"'),
        ("a a A", '"a"'),
        ('say "hi"', '"say" OR """hi"""'),
        ("42 ½ -", '"42" OR "1\u20442"'),
        ("会话", '"会 话"'),
        ("数据库", '"数 据 库" OR "数 据" OR "据 库"'),
        ("会话\uff0c保存\uff1f", '"会 话" OR "保 存"'),
        ("gen重跑", '"gen" OR "重 跑"'),
        ("🚀", '"🚀"'),
        ("", ""),
        (" ?! -- \0 ", ""),
        ("。、", ""),
    ],
)
def test_a_query_is_quoted_terms_joined_by_or(query: str, expression: str) -> None:
    assert match_query(query) == expression


def test_stop_words_are_left_out_of_a_query_unless_they_are_all_there_is() -> None:
    stopwords = frozenset({"what", "is", "the", "what's"})

    assert match_query("What\u2019s the (tea)?", stopwords) == '"(tea)?"'
    assert match_query("what is", stopwords) == '"what" OR "is"'


@settings(deadline=None)
@given(ANY_TEXT | st.sampled_from(["get()", "C++", "a AND", '"x', "foo-bar", "col:x", "NEAR(", "*", "^a", "a\0b"]))
def test_any_query_is_data_never_a_syntax_error(query: str) -> None:
    if expression := match_query(query):
        finds("col x foo bar", expression)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("会话历史怎么保存\uff1f", "会话保存在文件里"),
        ("ติดตั้ง", "วิธีติดตั้งโปรแกรม"),
        ("การติดตั้งโปรแกรมใหม่", "วิธีติดตั้ง"),
        ("설치는", "윈도우 설치"),
        ("ကျေးဇူး", "ကျေးဇူးတင်ပါတယ်"),
        ("हिन्दी", "यह हिन्दी है"),
        ("done", "done✅"),
        ("⚠️", "⚠ hot"),
        ("v1.2", "at v1.2 now"),
        ("𠮷", "𠮷野家"),
        ("istanbul", "İstanbul"),
        ("runs", "running"),
    ],
)
def test_a_query_finds_what_a_reader_would(query: str, text: str) -> None:
    assert finds(text, match_query(query))
    assert not finds("something else", match_query(query))
