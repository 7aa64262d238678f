"""Office files that are not what they say, or are made to take space or time."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from tests.fixtures.office import (
    docx_of,
    odf_of,
    pptx_parts,
    xlsx_of,
    zip_of,
)
from tests.fixtures.passages import BOILER, parts_of, passages_of

from conversation_mcp.documents.skips import Reason

ENTITIES = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]>'
NAMES = ["a.xlsx", "a.pptx", "a.odt", "a.rtf", "a.eml", "a.docx", "a.epub"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", zip_of({"x": "y"}), b"[" * 100_000])
def test_what_is_not_what_its_name_says_is_counted(tmp_path: Path, name: str, data: bytes) -> None:
    assert passages_of(tmp_path, name, data) in ([], Reason.UNCONVERTED)


SAMPLES = {
    "a.xlsx": (xlsx_of({"S": [["tea"]]}), "xl/worksheets/sheet1.xml"),
    "a.pptx": (zip_of(dict(pptx_parts(("tea", BOILER)))), "ppt/slides/slide1.xml"),
    "a.odt": (odf_of("<office:text><text:p>tea</text:p></office:text>"), "content.xml"),
    "a.docx": (docx_of(("", "tea")), "word/document.xml"),
}


@pytest.mark.parametrize(("name", "sample"), SAMPLES.items())
def test_entities_in_office_files_are_refused(tmp_path: Path, name: str, sample: tuple[bytes, str]) -> None:
    data, part = sample
    parts = parts_of(data)
    content = parts[part]
    text = content.decode() if isinstance(content, bytes) else content
    start = text.index("?>") + 2 if text.startswith("<?xml") else 0
    assert isinstance(passages_of(tmp_path, name, zip_of(parts)), list)
    assert passages_of(tmp_path, name, zip_of(parts | {part: ENTITIES + text[start:]})) is Reason.UNCONVERTED


@pytest.mark.parametrize(("name", "sample"), SAMPLES.items())
def test_an_office_file_that_unpacks_to_far_too_much_is_not_unpacked(
    tmp_path: Path, name: str, sample: tuple[bytes, str]
) -> None:
    data, part = sample
    bomb = zip_of(parts_of(data) | {part: b"<a>" + b" " * 33_000_000 + b"</a>"})

    assert len(bomb) < 200_000
    assert passages_of(tmp_path, name, bomb) is Reason.TOO_LARGE


def test_an_archive_that_lies_about_its_sizes_is_not_unpacked_either(tmp_path: Path) -> None:
    data = odf_of(f"<office:text><text:p>{'tea ' * 9_000_000}</text:p></office:text>")
    size = len(zipfile.ZipFile(BytesIO(data)).read("content.xml"))
    lie = data.replace(size.to_bytes(4, "little"), (100).to_bytes(4, "little"))

    assert lie != data
    assert passages_of(tmp_path, "a.odt", lie) in (Reason.TOO_LARGE, Reason.UNCONVERTED)


def test_a_sheet_of_endless_empty_cells_is_too_large(tmp_path: Path) -> None:
    data, part = SAMPLES["a.xlsx"]
    cell = '<row r="{0}"><c r="XFD{0}" t="inlineStr"><is><t>x</t></is></c></row>'
    rows = "".join(cell.format(number) for number in range(1, 1_000))
    sheet = f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>'

    assert passages_of(tmp_path, "a.xlsx", zip_of(parts_of(data) | {part: sheet})) is Reason.TOO_LARGE
