"""How each format becomes passages: where they begin and end, and what stands above them."""

import codecs
import json
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures.documents import written
from tests.fixtures.office import docx_of, epub_of, pdf_of, zip_of

from conversation_mcp.documents.formats import Formats
from conversation_mcp.documents.kinds.data import notebook
from conversation_mcp.documents.kinds.outline import NEWLINE
from conversation_mcp.documents.passages import Passage
from conversation_mcp.documents.reader import Content, decoded, read
from conversation_mcp.documents.roots import roots_of
from conversation_mcp.documents.skips import Reason
from conversation_mcp.documents.walk import Documents

FORMATS = Formats()


def passages_of(folder: Path, name: str, data: str | bytes) -> list[Passage] | Reason:
    (document,) = Documents(roots_of([written(folder, {name: data}) / name], None), FORMATS)
    content = read(document, FORMATS)
    assert isinstance(content, Content)
    return content.passages()


def shown(folder: Path, name: str, data: str | bytes) -> list[tuple[str, int, int, str]]:
    passages = passages_of(folder, name, data)
    assert not isinstance(passages, Reason)
    return [(passage.heading, passage.start_line, passage.end_line, passage.text) for passage in passages]


def test_the_headings_of_restructuredtext_are_told_by_their_signs(tmp_path: Path) -> None:
    text = """\
=====
Title
=====

Before.

One
---
A. ``x = 1``

=====  =====
a      b
=====  =====

Two
~~~
B.

Three
-----
C.
"""
    assert shown(tmp_path, "a.rst", text) == [
        ("Title", 5, 5, "Before."),
        ("Title > One", 9, 13, "A. ``x = 1``\n\n=====  =====\na      b\n=====  ====="),
        ("Title > One > Two", 17, 17, "B."),
        ("Title > Three", 21, 21, "C."),
    ]


def test_the_listings_of_asciidoc_hold_no_headings(tmp_path: Path) -> None:
    text = "= Title\nAuthor\n\n== One\n\nA.\n\n----\n== no heading\n----\n\n=== Two\nB.\n"

    assert shown(tmp_path, "a.adoc", text) == [
        ("Title", 2, 2, "Author"),
        ("Title > One", 6, 10, "A.\n\n----\n== no heading\n----"),
        ("Title > One > Two", 13, 13, "B."),
    ]


def test_html_is_read_as_it_is_seen_with_the_lines_of_the_file(tmp_path: Path) -> None:
    text = """\
<html><head><title>A &amp; B</title><style>p { color: red }</style></head>
<body><nav><a href="/">Home</a></nav>
<h1>First <em>things</em></h1>
<p>One
   two&nbsp;<b>three</b>.</p><script>alert("x")</script>
<pre>
def f():
    pass
</pre>
<h2>More</h2>
<table><tr><th>name</th><th>age</th></tr><tr><td>Ann</td><td>7</td></tr></table>
<p>Open end
"""
    passages = passages_of(tmp_path, "a.html", text)

    assert not isinstance(passages, Reason)
    assert {passage.title for passage in passages} == {"A & B"}
    assert shown(tmp_path, "a.html", text) == [
        ("First things", 4, 8, "One two three.\n\ndef f():\n    pass"),
        ("First things > More", 11, 12, "name | age\n\nAnn | 7\n\nOpen end"),
    ]


def test_source_code_is_cut_at_its_definitions_with_what_stands_right_above(tmp_path: Path) -> None:
    text = '''\
"""A module."""

LIMIT = 3


# Counts.
@cached
class Counter(Base):
    """Counts things."""

    def __init__(self):
        self.n = 0

    async def add(self, n):
        def inner():
            return n

        return inner


if __name__ == "__main__":
    Counter()
'''
    assert shown(tmp_path, "a.py", text) == [
        ("", 1, 3, '"""A module."""\n\nLIMIT = 3'),
        ("Counter", 6, 9, '# Counts.\n@cached\nclass Counter(Base):\n    """Counts things."""'),
        ("Counter > __init__", 11, 12, "    def __init__(self):\n        self.n = 0"),
        ("Counter > add", 14, 14, "    async def add(self, n):"),
        ("Counter > add > inner", 15, 16, "        def inner():\n            return n"),
        ("Counter > add", 18, 18, "        return inner"),
        ("", 21, 22, 'if __name__ == "__main__":\n    Counter()'),
    ]


@pytest.mark.parametrize(
    ("name", "text", "headings"),
    [
        ("a.ts", "export class Cart {\n  total(): number {\n    return 1;\n  }\n}\n\nconst sum = (a) => a;\n", ["Cart", "Cart > total", "sum"]),
        ("a.go", "// Get gets.\nfunc (s *Store) Get(k string) error {\n\treturn nil\n}\n\ntype Key struct {\n\tid int\n}\n", ["Get", "Key"]),
        ("a.rs", "impl<T> Stack<T> {\n    pub fn push(&mut self) {\n    }\n}\n", ["Stack<T>", "Stack<T> > push"]),
        ("a.java", "public class Cart {\n    private int total(int a) {\n        return a;\n    }\n}\n", ["Cart", "Cart > total"]),
        ("a.c", "#include <a.h>\n\nstatic int add(int a,\n    int b) {\n    return foo(a);\n}\n", ["", "add"]),
        ("a.rb", "module Shop\n  def self.total\n  end\nend\n", ["Shop", "Shop > self.total"]),
        ("a.sh", "set -e\n\nbuild() {\n  make\n}\n", ["", "build"]),
        ("a.sql", "CREATE TABLE IF NOT EXISTS users (\n  id INT\n);\n", ["users"]),
        ("a.cs", "namespace A\n{\n    public sealed class B\n    {\n        public int C(int d)\n        {\n        }\n    }\n}\n", ["A", "A > B", "A > B > C"]),
    ],
)  # fmt: skip
def test_definitions_are_known_in_many_languages(tmp_path: Path, name: str, text: str, headings: list[str]) -> None:
    assert list(dict.fromkeys(heading for heading, *_ in shown(tmp_path, name, text))) == headings


@pytest.mark.slow
def test_a_notebook_that_is_spelled_as_no_program_does_is_read_at_once() -> None:
    cell = '{"cell_type": "code", "source": "x\\u0041y"},\n'
    began = process_time()
    outline = notebook(f'{{"nbformat": 4, "cells": [\n{cell * 6_000}{{}}]}}', "a.ipynb")

    assert process_time() - began < 10  # a fraction of it; quadratic, it was half a minute
    assert outline.lines[0] == "xAy"


def test_a_notebook_is_read_by_its_cells_without_output_at_the_lines_of_its_file(tmp_path: Path) -> None:
    cells: list[dict[str, object]] = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Grüße\n", "\n", 'Some "text".']},
        {"cell_type": "code", "outputs": [{"text": ["noise"]}], "source": ["x = 1\n", "print(x)"]},
    ]
    text = json.dumps({"cells": cells, "nbformat": 4}, indent=1)
    lines = text.splitlines()
    (found,) = shown(tmp_path, "a.ipynb", text)

    assert (found[0], found[3]) == ("Grüße", 'Some "text".\n\nx = 1\nprint(x)')
    assert 'Some \\"text\\".' in lines[found[1] - 1]
    assert "print(x)" in lines[found[2] - 1]


def test_rows_of_a_table_stand_under_the_names_of_its_columns(tmp_path: Path) -> None:
    assert shown(tmp_path, "a.csv", "name,age\nAnn,7\nBob,9\n") == [("name,age", 2, 3, "Ann,7\nBob,9")]
    assert shown(tmp_path, "a.tsv", "name\tage\n") == [("", 1, 1, "name\tage")]


def test_records_are_lines_and_their_letters_can_be_read(tmp_path: Path) -> None:
    (found,) = shown(tmp_path, "a.jsonl", '{"a": "caf\\u00e9"}\n{"b": 1}\n{broken \\u00e9\n')

    assert found == ("", 1, 3, '{"a": "café"}\n{"b": 1}\n{broken \\u00e9')


def test_a_pdf_is_read_by_its_pages_under_its_bookmarks(tmp_path: Path) -> None:
    data = pdf_of("First page.", "Second page.", "Third page.", bookmarks={1: "Start", 3: "Limits"})
    passages = passages_of(tmp_path, "a.pdf", data)

    assert not isinstance(passages, Reason)
    assert [(p.heading, p.start_line, p.text) for p in passages] == [
        ("Start", 1, "First page.\n\nSecond page."),
        ("Limits", 3, "Third page."),
    ]
    assert passages[0].location == f"{tmp_path / 'a.pdf'}, page 1-2"


def test_word_and_epub_are_read_under_their_headings_by_paragraphs(tmp_path: Path) -> None:
    word = docx_of(("Heading1", "Kettle"), ("", "It boils."), ("Heading2", "Limits"), ("", "1.7 litres."))
    book = epub_of("<html><head><title>Tea</title></head><h1>One</h1><p>Boil.</p></html>", "<h1>Two</h1><p>Pour.</p>")

    assert shown(tmp_path, "a.docx", word) == [("Kettle", 2, 2, "It boils."), ("Kettle > Limits", 4, 4, "1.7 litres.")]
    assert shown(tmp_path, "a.epub", book) == [("One", 2, 2, "Boil."), ("Two", 4, 4, "Pour.")]


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.epub", "a.ipynb"])
@pytest.mark.parametrize("data", [b"", b"no such thing", zip_of({"x": "y"}), b"%PDF-1.4\n", b"[" * 100_000])
def test_a_file_that_is_not_what_its_name_says_is_counted(tmp_path: Path, name: str, data: bytes) -> None:
    found = passages_of(tmp_path, name, data)

    assert found in ([], Reason.UNCONVERTED, Reason.BINARY)


def test_an_archive_that_unpacks_to_far_too_much_is_not_unpacked(tmp_path: Path) -> None:
    bomb = epub_of("<p>" + "a" * 33_000_000 + "</p>")

    assert len(bomb) < 100_000
    assert passages_of(tmp_path, "a.epub", bomb) is Reason.TOO_LARGE


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(b"\xef\xbb\xbf# T", "# T", id="BOM"),
        pytest.param("Zoë 会话".encode("utf-16"), "Zoë 会话", id="UTF-16"),
        pytest.param(codecs.BOM_UTF16_BE + "Zoë".encode("utf-16-be"), "Zoë", id="UTF-16 BE"),
        pytest.param("Zoë".encode("utf-32"), "Zoë", id="UTF-32"),
        pytest.param(b"caf\xe9", "café", id="Western"),
        pytest.param("café ü".encode() + b" \xff", "café ü \ufffd", id="UTF-8 with one broken byte"),
        pytest.param(b"", "", id="empty"),
        pytest.param(b"a\0b", None, id="binary"),
    ],
)
def test_text_is_read_whatever_wrote_it(data: bytes, text: str | None) -> None:
    assert decoded(data) == text


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from([".rst", ".adoc", ".html", ".py", ".ts", ".csv", ".jsonl", ".yaml", ".c", ".java"]),
    st.lists(
        st.sampled_from(
            [
                "def f():",
                "class A {",
                "    x",
                "}",
                "====",
                "T",
                "----",
                "== A",
                "<p>",
                "</p>",
                "<pre>",
                "<h1>",
                "<table>",
                "</table>",
                "<tr>",
                "</tr>",
                "<td>",
                "<th rowspan=3>",
                "</td>",
                "",
                "# c",
            ]
        )
        | st.text(max_size=40),
        max_size=25,
    ),
)
def test_whatever_a_file_holds_its_passages_name_lines_that_it_has(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, lines: list[str]
) -> None:
    text = "\n".join(lines).encode("utf-8", "replace").decode()
    passages = passages_of(tmp_path_factory.mktemp("any"), f"a{suffix}", text)
    count = len(NEWLINE.split(text))

    if passages is not Reason.BINARY:
        assert not isinstance(passages, Reason)
        assert all(1 <= passage.start_line <= passage.end_line <= count for passage in passages)
        assert all(passage.text.strip() for passage in passages)
