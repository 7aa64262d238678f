"""A reader's natural query finds the words of every script; and whatever is typed is data."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures.library import Shelf, numbers_of

from conversation_mcp.searching.snippets import snippets
from conversation_mcp.searching.stemming import stem
from conversation_mcp.searching.words import MAX_TERMS, TOKENIZER, Indexer, expression

ANY_TEXT = st.text(st.characters(exclude_categories=()))
OPERATORS = [
    "AND",
    "OR",
    "NOT",
    "NEAR(",
    "NEAR/2",
    "(",
    ")",
    '"',
    "*",
    "^",
    ":",
    "+",
    "-",
    "{a b}",
    "text:",
    "\0",
    "\ud800",
    "“",
    "'",
]


def finds(query: str, text: str) -> bool:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f'CREATE VIRTUAL TABLE t USING fts5(body, tokenize="{TOKENIZER}")')
        database.execute("INSERT INTO t VALUES (?)", (Indexer().indexed_text(text),))
        match = expression(query).match
        return bool(match and database.execute("SELECT 1 FROM t WHERE t MATCH ?", (match,)).fetchall())


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("会话", "会话保存在文件里"),
        ("会话历史怎么保存\uff1f", "会话保存在文件里"),
        ("数据库", "关系数据库的索引"),
        ("データベース", "データベースの索引"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("설치는", "윈도우 설치"),
        ("ติดตั้ง", "วิธีติดตั้งโปรแกรม"),
        ("การติดตั้งโปรแกรมใหม่", "วิธีติดตั้ง"),
        ("ကျေးဇူး", "ကျေးဇူးတင်ပါတယ်"),
        ("हिन्दी", "यह हिन्दी है"),
        ("𠮷", "𠮷野家"),
        ("cafe", "CAFÉ noir"),
        ("CAFE\u0301", "café"),
        ("strasse", "die Straße"),
        ("istanbul", "İstanbul"),
        ("tiếng", "TIẾNG VIỆT"),
        ("привет", "Привет, мир"),
        ("كتاب", "هذا كتاب جيد"),
        ("ＡＢＣ", "abc"),
        ("🚀", "launch 🚀 now"),
        ("don't", "Don\u2019t panic"),
        ("batteries", "the battery is empty"),
        ("battery", "batteries?"),
        ("configuring", "to configure it"),
        ("stopped", "it stops"),
        ("B-trees?", "A B-tree keeps keys sorted"),
    ],
)
def test_words_of_every_script_are_found(query: str, text: str) -> None:
    assert finds(query, text)
    assert not finds(query, "something else entirely 其他")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("get_conversation_history", "call get_conversation_history now"),
        ("conversation_history", "call get_conversation_history now"),
        ("history", "call get_conversation_history now"),
        ("getUserName", "the method getUserName()"),
        ("getusername", "the method getUserName()"),
        ("UserName", "the method getUserName()"),
        ("user name", "the method getUserName()"),
        ("user_name", "the method getUserName()"),
        ("getUserName", "the function get_user_name"),
        ("HTTPServer", "class HTTPServer:"),
        ("server", "class HTTPServer:"),
        ("os.path.join", "use os.path.join(a, b)"),
        ("path.join", "use os.path.join(a, b)"),
        ("os.path", "use os.path.join(a, b)"),
        ("src/app/main.py", "in src/app/main.py:12"),
        ("main.py", "in src/app/main.py:12"),
        ("/usr/local", "from /usr/local/bin"),
        ("C:\\Users\\ada", "at C:\\Users\\Ada\\notes"),
        ("v1.2", "since v1.2.3"),
        ("--dry-run", "with --dry-run"),
        ("gen-itgc", "重跑gen-itgc后"),
        ("itgc", "重跑gen-itgc后"),
        ("POL-358", "ticket POL-358"),
        ("@nasa", "by @nasa"),
        ("col:value", "col:value"),
        ("user@example.org", "to user@example.org"),
    ],
)
def test_names_in_code_are_found_whole_and_in_parts(query: str, text: str) -> None:
    assert finds(query, text)
    assert not finds(query, "nothing of that kind")


@pytest.mark.parametrize(
    ("query", "text", "fits"),
    [
        ('"page layout"', "the page layout of", True),
        ('"page layout"', "layout of the page", False),
        ('"page layout" keys', "the page layout", True),
        ('"page layout" "sorted keys"', "the page layout", False),
        ('"page layout" "sorted keys"', "sorted keys in a page layout", True),
        ("“page layout”", "the page layout", True),
        ('"PAGE Layout!"', "the page-layout", True),
        ('"会话保存"', "会话历史保存", False),
        ('"会话保存"', "旧会话保存了", True),
        ('"getUserName now"', "getUserName now", True),
        ('"sorted', "it is sorted", True),
        ('""', "anything", False),
        ('"batteries"', "a battery", False),
        ("informati*", "information", True),
        ("informati*", "inform", False),
        ("running*", "runtime", False),
        ("RUN*", "running", True),
        ("get_conv*", "get_conversation_history", True),
        ("os.pa*", "os.path", True),
        ("会*", "开会了", True),
        ("caf*", "Cafés", True),
        ("*", "anything", False),
        ("**bold**", "a bold word", True),
    ],
)
def test_phrases_must_occur_and_beginnings_are_beginnings(query: str, text: str, fits: bool) -> None:
    assert finds(query, text) is fits


@settings(deadline=None)
@given(ANY_TEXT)
def test_any_text_can_be_indexed(text: str) -> None:
    finds("word", text)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(OPERATORS) | ANY_TEXT, max_size=12).map(" ".join) | ANY_TEXT)
def test_any_query_is_data_never_a_syntax_error(query: str) -> None:
    finds(query, "col text a b")


@pytest.mark.parametrize(
    "query",
    [
        "a b c d e f g h i j" * 500,
        "会话历史" * 2500,
        '"' * 10_000,
        '"a" ' * 2500,
        "x" * 10_000,
        "a*" * 5000,
        "( " * 5000,
        '"' + "w " * 4000 + '"',
    ],
    ids=["letters", "chinese", "quotes", "phrases", "word", "stars", "brackets", "phrase"],
)
def test_ten_thousand_characters_are_a_query_like_any_other(query: str) -> None:
    asked = expression(query)
    assert len(asked.required) <= MAX_TERMS
    assert len(asked.terms) <= MAX_TERMS
    finds(query, "a b c")


@pytest.mark.parametrize(
    "forms",
    [
        "battery batteries",
        "stop stops stopped stopping",
        "configure configures configured configuring",
        "box boxes",
        "study studies studied studying",
        "call calls called calling",
        "pass passes passed passing",
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len({stem(word) for word in forms.split()}) == 1


@pytest.mark.parametrize("word", ["bus", "this", "string", "need", "speed", "is", "sing", "v2", "résumé"])
def test_words_that_only_look_like_forms_stay(word: str) -> None:
    assert stem(word) == word


def snippet(query: str, text: str) -> str:
    [one] = snippets([text], expression(query).match)
    return one


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("keys", "It keeps keys sorted.", "It keeps **keys** sorted."),
        ("key", "It keeps Keys sorted.", "It keeps **Keys** sorted."),
        ('"keeps keys"', "It keeps keys sorted.", "It **keeps keys** sorted."),
        ("user", "Call getUserName() first.", "Call **getUserName**() first."),
        ("join", "use os.path.join(a)", "use os.path.**join**(a)"),
        ("会话", "旧会话保存在文件里", "旧**会话**保存在文件里"),
        ("ติดตั้ง", "วิธีติดตั้งโปรแกรม", "วิธี**ติดตั้ง**โปรแกรม"),
        ("strasse", "Die STRASSE und die Straße.", "Die **STRASSE** und die **Straße**."),
        ("cafe", "un cafe\u0301 noir", "un **cafe\u0301** noir"),
        ("sort*", "keys sorted", "keys **sorted**"),
        ("keys", "two\n\nlines of keys\tthere", "two lines of **keys** there"),
        ("keys", "already **bold** keys", "already bold **keys**"),
        ("🚀", "go 🚀🚀 now", "go **🚀🚀** now"),
        ("b", "a\0b \ud800 c", "a\0**b** \ufffd c"),
    ],
)
def test_a_snippet_marks_the_words_of_the_original_text(query: str, text: str, marked: str) -> None:
    assert snippet(query, text) == marked


def test_a_snippet_is_the_part_with_most_of_the_words() -> None:
    text = "apple " + "filler " * 100 + "an apple and a pear and a plum " + "filler " * 100
    cut = snippet("apple pear plum", text)
    assert cut.startswith("…")
    assert cut.endswith("…")
    assert "an **apple** and a **pear** and a **plum**" in cut
    assert len(cut) < 200


def test_a_snippet_of_one_endless_word_is_cut() -> None:
    cut = snippet("会话", "历史" * 500 + "会话" + "保存" * 500)
    assert "**会话**" in cut
    assert len(cut) < 200


@settings(deadline=None)
@given(ANY_TEXT, ANY_TEXT)
def test_any_text_has_a_snippet_on_one_line(query: str, text: str) -> None:
    if expression(query).match:
        assert "\n" not in snippet(query, text)


@settings(deadline=None)
@given(st.text(st.sampled_from("ab 会é.ßﬁ\u0301İ🚀"), min_size=1))
def test_a_text_that_is_found_by_itself_is_marked(text: str) -> None:
    if finds(text, text):
        assert "**" in snippet(text, text)


def test_words_that_stand_everywhere_only_order_what_rarer_words_choose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversation_mcp.stores.index.rarity.RANKED_MESSAGES", 10)
    monkeypatch.setattr("conversation_mcp.stores.index.queries.RANKED_MESSAGES", 10)
    monkeypatch.setattr("conversation_mcp.stores.index.rarity.RARE_MESSAGES", 3)
    shelf = Shelf(tmp_path)
    for number in range(20):
        shelf.put(number, "common words", tags=["old"] if number < 5 else [])
    shelf.put(3, "common words and a rare one")
    shelf.put(4, "a rare one")
    page = shelf.page("common rare nowhere")
    assert sorted(numbers_of(page)) == [3, 4]
    assert page.notices[0].startswith("very common words of the query were not searched for")
    page = shelf.page("common nowhere")
    assert numbers_of(page) == list(range(19, 9, -1))
    assert page.notices[0].startswith("the words are very common: only the newest")
    assert shelf.numbers("common", tag="old") == [2, 1, 0]
    assert shelf.numbers("common words")[0] == 19
    assert sorted(shelf.numbers('"common words" rare')) == list(range(10, 20))
