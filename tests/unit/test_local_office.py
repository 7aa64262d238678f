"""Workbooks, presentations, OpenDocument, RTF and mails: what is read of them, and where it is said to stand."""

import json
from datetime import date, datetime
from email.message import EmailMessage
from pathlib import Path
from time import process_time

import pytest
from tests.fixtures.documents import answer_of, local, written
from tests.fixtures.office import (
    epub_of,
    odf_of,
    pptx_parts,
    slide_text,
    xlsx_of,
    zip_of,
)
from tests.fixtures.passages import BOILER, parts_of, passages_of

from conversation_mcp.documents.formats import Formats
from conversation_mcp.documents.roots import roots_of
from conversation_mcp.documents.skips import Reason
from conversation_mcp.documents.walk import Documents


def shown(folder: Path, name: str, data: str | bytes) -> list[tuple[str, str, str]]:
    """Return the headings of each passage, where it stands in its file, and its text."""
    passages = passages_of(folder, name, data)
    assert not isinstance(passages, Reason)
    return [(p.heading, p.location.removeprefix(str(folder / name)).lstrip(",: "), p.text) for p in passages]


def test_rows_of_a_workbook_stand_under_their_sheet_and_the_names_of_the_columns(tmp_path: Path) -> None:
    data = xlsx_of({
        "Prices": [["Item", "Deposit", "Due"], ["Flat", 2700, date(2026, 5, 3)], [], ["Shed", 9.5, None], [None, True, datetime(2026, 5, 3, 12, 30)]],  # noqa: DTZ001 -- as in a sheet
        "Notes": [["The boiler holds\nforty litres."]],
        "Empty": [],
    })  # fmt: skip
    assert shown(tmp_path, "a.xlsx", data) == [
        (
            "Prices > Item | Deposit | Due",
            "row 2-5",
            "Flat | 2700 | 2026-05-03\nShed | 9.5\nTRUE | 2026-05-03 12:30:00",
        ),
        ("Notes", "row 1", "The boiler holds forty litres."),
        ("Empty", "row 1", "Empty"),
    ]


def test_slides_stand_under_their_titles_with_tables_and_notes(tmp_path: Path) -> None:
    cells = "".join(f"<a:tc>{slide_text(text)}</a:tc>" for text in ("Item", "Deposit"))
    table = f"<a:tbl><a:tr>{cells}</a:tr></a:tbl>"
    footer = '<p:sp><p:nvSpPr><p:nvPr><p:ph type="sldNum"/></p:nvPr></p:nvSpPr>' + slide_text("7") + "</p:sp>"
    parts = pptx_parts(("Boiler", f"<p:sp>{BOILER}</p:sp>{footer}"), ("", f"<p:graphicFrame>{table}</p:graphicFrame>"))
    parts |= {
        "ppt/slides/_rels/slide1.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Target="../notesSlides/notesSlide1.xml"/></Relationships>',
        "ppt/notesSlides/notesSlide1.xml": parts["ppt/slides/slide1.xml"].replace("The boiler holds forty litres.", "Say it slowly."),
    }  # fmt: skip

    assert shown(tmp_path, "a.pptx", zip_of(parts)) == [
        ("Boiler", "slide 1", "The boiler holds forty litres.\nSay it slowly."),
        ("", "slide 2", "Item | Deposit"),
    ]


def test_slides_come_in_the_order_of_the_presentation_or_as_they_are_numbered(tmp_path: Path) -> None:
    parts = pptx_parts(*((f"Slide {name}", BOILER) for name in "ab"))
    swapped = parts | {"ppt/presentation.xml": parts["ppt/presentation.xml"].replace("r1", "r0").replace("r2", "r1").replace("r0", "r2")}  # fmt: skip
    bare = {name: text for name, text in parts.items() if "slides" in name}

    for made, order in ((parts, "ab"), (swapped, "ba"), (bare, "ab")):
        assert [heading for heading, *_ in shown(tmp_path, "a.pptx", zip_of(made))] == [f"Slide {name}" for name in order]  # fmt: skip


def test_an_open_document_text_is_read_by_paragraphs_with_rows_of_tables_as_lines(tmp_path: Path) -> None:
    body = (
        "<office:text><text:tracked-changes><text:p>800 francs</text:p></text:tracked-changes>"
        '<text:h text:outline-level="1">Lease</text:h><text:p>The rent<text:s/>is <text:span>900</text:span> francs.</text:p>'
        "<table:table><table:table-row><table:table-cell><text:p>Item</text:p></table:table-cell>"
        "<table:table-cell><text:p>Deposit</text:p></table:table-cell></table:table-row></table:table>"
        '<text:h text:outline-level="2">Pets</text:h><text:list><text:list-item><text:p>Cats</text:p></text:list-item></text:list>'
        "</office:text>"
    )
    assert shown(tmp_path, "a.odt", odf_of(body, meta_xml="<a>Untitled 1</a>")) == [
        ("Lease", "paragraph 2-3", "The rent is 900 francs.\n\nItem | Deposit"),
        ("Lease > Pets", "paragraph 5", "Cats"),
    ]


def test_the_sheets_and_slides_of_open_documents_are_read_by_rows_and_slides(tmp_path: Path) -> None:
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    many = '<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    sheet = f'<office:spreadsheet><table:table table:name="Prices"><table:table-row>{cell.format("Flat")}{cell.format("2700")}</table:table-row>{many}</table:table></office:spreadsheet>'  # fmt: skip
    slide = '<draw:page draw:name="page1"><draw:frame presentation:class="title"><draw:text-box><text:p>Boiler</text:p></draw:text-box></draw:frame><draw:frame><draw:text-box><text:p>Forty litres.</text:p></draw:text-box></draw:frame></draw:page>'

    assert shown(tmp_path, "a.ods", odf_of(sheet)) == [("Prices", "row 1", "Flat | 2700")]
    assert shown(tmp_path, "a.odp", odf_of(f"<office:presentation>{slide}</office:presentation>")) == [
        ("Boiler", "slide 1", "Boiler\n\nForty litres.")
    ]


RTF = r"""{\rtf1\ansi\ansicpg1250{\fonttbl{\f0\fcharset238 Arial;}}{\info{\title Secret title}{\author Nobody}}
\f0 The boiler holds forty litres.\par
Pojemno\'9c\'e6 \u8364? {\pict\pngblip ffd8ffd8}\par
\trowd\cellx1000\cellx2000 Item\cell Deposit\cell\row
}"""


def test_rtf_is_read_by_paragraphs_without_what_it_says_about_itself(tmp_path: Path) -> None:
    ((heading, _, text),) = shown(tmp_path, "a.rtf", RTF)

    assert heading == ""
    assert text.split("\n") == ["The boiler holds forty litres.", "Pojemność €", "Item | Deposit"]


def test_rtf_that_is_made_to_take_for_ever_is_refused_or_read_at_once(tmp_path: Path) -> None:
    fonts = "{\\rtf1{\\fonttbl" + "{\\f1 " * 100_000
    links = "{\\rtf1 " + "{\\field{\\*\\fldinst{" * 30_000 + "tea" + "}" * 60_001

    assert passages_of(tmp_path, "a.rtf", fonts) is Reason.UNCONVERTED
    assert isinstance(passages_of(tmp_path, "b.rtf", links), list)


def mail_of(**headers: str) -> EmailMessage:
    message = EmailMessage()
    for name, value in ({"From": "Ann <ann@example.org>", "Date": "Sun, 03 May 2026 10:00:00 +0000"} | headers).items():
        message[name] = value
    return message


def test_a_mail_is_read_with_who_wrote_it_what_was_forwarded_and_what_was_attached(tmp_path: Path) -> None:
    inner = mail_of(Subject="Litres")
    inner.set_content("<p>The tank holds <b>nine</b>.</p>", subtype="html", charset="iso-8859-1")
    message = mail_of(Subject="Größe of the boiler", To="Bob <bob@example.org>")
    message.set_content("The boiler holds\nforty litres – “warm”.", charset="windows-1252", cte="quoted-printable")
    message.add_alternative("<p>The same again.</p>", subtype="html")
    message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="plan.pdf")
    message.add_attachment("Minutes of May.", filename="minutes.txt")
    message.add_attachment(inner)
    found = shown(tmp_path, "a.eml", bytes(message))

    assert [heading for heading, *_ in found] == ["Größe of the boiler", "Größe of the boiler > Litres"]
    assert found[0][2].startswith("From: Ann <ann@example.org>\nTo: Bob <bob@example.org>\nDate: Sun, 03 May 2026")
    assert "\n\nThe boiler holds\nforty litres – “warm”." in found[0][2]
    assert found[0][2].endswith("Attached: plan.pdf\n\nAttached: minutes.txt\nMinutes of May.")
    assert found[1][2].endswith("\n\nThe tank holds nine.")
    assert "same again" not in str(found)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"Subject: Boiler\n\nThe boiler holds forty litres.\n", "The boiler holds forty litres."),
        (b"Subject: x\nContent-Type: text/plain; charset=nonsense\n\nForty litres.\n", "Forty litres."),
        (b"Subject: x\nContent-Type: multipart/mixed\n\nForty litres.\n", "Forty litres."),
    ],
)
def test_a_mail_that_lacks_most_of_what_mails_have_is_read(tmp_path: Path, data: bytes, expected: str) -> None:
    assert expected in str(shown(tmp_path, "a.eml", data))


def test_the_headers_of_a_mail_are_decoded_whatever_is_in_them(tmp_path: Path) -> None:
    many = ", ".join(f"a{number}@example.org" for number in range(5_000))
    data = (
        f"Subject: =?utf-8?q?Gr=C3=B6=C3=9Fe?=\nFrom: Zoë\nTo: {many}\nCc: =?nonsense?q?x?=\n\nForty litres.\n".encode()
    )
    found = shown(tmp_path, "a.eml", data)

    assert found[0][0] == "Größe"
    assert found[0][2].startswith("From: Zoë\nTo: a0@example.org, a1@example.org")
    assert "Forty litres." in str(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "header",
    [
        "Content-Type: text/plain" + "".join(f"; a{number}=b" for number in range(20_000)),
        "Content-Transfer-Encoding: " + "((" * 20_000,
        "Content-Type: multipart/mixed; boundary=b" + "\n\n--b\nContent-Type: text/plain\n\ntea" * 3_000,
    ],
    ids=["parameters", "comments", "parts"],
)
def test_a_mail_that_is_made_to_take_for_ever_is_read_at_once(tmp_path: Path, header: str) -> None:
    began = process_time()
    found = passages_of(tmp_path, "a.eml", f"Subject: Boiler\n{header}\n\ntea\n")

    assert process_time() - began < 10  # a fraction of it; it was more than half a minute
    assert isinstance(found, list)
    assert found[0].heading == "Boiler"


def test_a_mail_of_an_unknown_encoding_is_said_to_be_one(tmp_path: Path) -> None:
    data = b"Subject: x\nContent-Type: text/plain; charset=us-ascii\n\n" + "Żółty przycisk".encode("cp1250")

    assert passages_of(tmp_path, "a.eml", data) is Reason.UNKNOWN_ENCODING


def test_notebooks_of_old_versions_and_with_missing_keys_are_read(tmp_path: Path) -> None:
    old = {"nbformat": 3, "worksheets": [{"cells": [
        {"cell_type": "heading", "level": 2, "source": ["Boiler"]},
        {"cell_type": "markdown", "source": "Forty litres."},
        {"cell_type": "code", "input": ["x = 40"], "outputs": [{"text": "noise"}]},
    ]}], "metadata": {"name": "No title"}}  # fmt: skip
    lacking = {"nbformat": 4, "cells": [{"source": "a = 1"}, {"cell_type": "markdown"}, "no cell", {"cell_type": "markdown", "source": "# B\nb"}]}  # fmt: skip

    assert [(heading, text) for heading, _, text in shown(tmp_path, "a.ipynb", json.dumps(old))] == [
        ("Boiler", "Forty litres.\n\nx = 40")
    ]
    assert [(heading, text) for heading, _, text in shown(tmp_path, "b.ipynb", json.dumps(lacking))] == [
        ("", "a = 1"),
        ("B", "b"),
    ]


@pytest.mark.parametrize("lost", ["META-INF/container.xml", "book/content.opf", "spine", "namespaces"])
def test_a_book_that_lacks_a_part_or_is_of_an_old_version_is_read(tmp_path: Path, lost: str) -> None:
    parts = parts_of(epub_of("<head><title>Cover</title></head><h1>One</h1><p>Boil.</p>", "<h1>Two</h1><p>Pour.</p>"))
    package = parts["book/content.opf"]
    assert isinstance(package, bytes)
    changed = package.decode()
    if lost == "spine":
        changed = changed.partition("<spine>")[0] + "</package>"
    elif lost == "namespaces":
        doctype = '<!DOCTYPE package PUBLIC "+//ISBN 0-9673008-1-9//DTD OEB 1.2 Package//EN" "oebpkg12.dtd">'
        changed = doctype + changed.replace(
            "http://www.idpf.org/2007/opf", "http://openebook.org/namespaces/oeb-package/1.0/"
        )
    parts |= {"book/content.opf": changed}
    parts.pop(lost, None)

    assert [text for *_, text in shown(tmp_path, "a.epub", zip_of(parts))] == ["Boil.", "Pour."]


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("---\n# a comment\ntitle: x\ntags:\n- a\n- b\n---\n\n# Boiler\n\nForty.\n", ["", "Boiler"]),
        ("+++\ntitle = 'x'\n# a comment\n[extra]\na = 1\n+++\n# Boiler\n\nForty.\n", ["", "Boiler"]),
        ("\n---\ntitle: x\n---\n# Boiler\n\nForty.\n", ["", "Boiler"]),
        ("---\ntitle: x\nsummary: |\n  # not one\n  ends\n...\n# Boiler\n\nForty.\n", ["", "Boiler"]),
        ("---\n\nSome words.\n\n# Boiler\n\nForty.\n\n---\n", ["", "Boiler"]),
    ],
)
def test_what_a_file_says_about_itself_is_no_heading(tmp_path: Path, text: str, headings: list[str]) -> None:
    passages = passages_of(tmp_path, "a.md", text)

    assert not isinstance(passages, Reason)
    assert list(dict.fromkeys(passage.heading for passage in passages)) == headings
    assert {passage.title for passage in passages} == {"Boiler"}


def test_comments_above_a_table_are_not_the_names_of_its_columns(tmp_path: Path) -> None:
    assert [heading for heading, *_ in shown(tmp_path, "a.csv", "sep=;\nItem;Deposit\nFlat;2700\n")][
        -1
    ] == "Item;Deposit"
    assert [heading for heading, *_ in shown(tmp_path, "b.csv", "# made by x\nItem,Deposit\nFlat,2700\n")][-1] == "Item,Deposit"  # fmt: skip


async def test_the_place_of_a_quote_is_kept_for_the_next_question(tmp_path: Path) -> None:
    provider = local(written(tmp_path, {"a.xlsx": xlsx_of({"S": [["tea, tea and tea"]]}), "b.md": "Some tea and other words."}))  # fmt: skip
    first = await answer_of(provider, "tea?")
    again = await answer_of(provider, "tea?", first.content.split("\n\n[2]", maxsplit=1)[0], "more tea?")

    assert [Path(source.path or "").name for source in first.sources] == ["a.xlsx", "b.md"]
    assert [Path(source.path or "").name for source in again.sources] == ["b.md", "a.xlsx"]
    assert (first.sources[0].heading, first.sources[0].start_line) == ("S", None)


def test_without_the_extra_the_files_are_counted_with_the_hint(tmp_path: Path) -> None:
    folder = written(tmp_path, {"a.xlsx": b"x", "b.rtf": "x", "c.odt": "x", "d.pptx": "x", "e.eml": "x"})
    documents = Documents(roots_of([folder], None), Formats(missing=frozenset({"pdf", "docx", "xlsx", "rtf"})))

    assert [document.form for document in documents] == ["odf", "pptx", "mail"]
    assert documents.skipped.sentence() == (
        "Some of the named files were not read: 2 PDF, Word, Excel or RTF, which need "
        "`pip install 'conversation-mcp[documents]'` (1 .rtf, 1 .xlsx)."
    )
