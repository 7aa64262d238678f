"""Small folders of documents that were found in use, each with its right answer."""

from pathlib import Path

import pytest
from tests.fixtures.documents import answer_of, local, written

CASES = Path(__file__).parents[1] / "fixtures" / "cases"
KINDS: dict[str, str | bytes] = {
    "a.md": "# A\nNothing here.\n", "b.rtf": r"{\rtf1 The boiler holds forty litres.}", "c.odt": b"PK\x03\x04",
    "d.pptx": b"PK\x03\x04", "e.xlsx": b"PK\x03\x04", "f.eml": "Subject: Boiler\n\nThe boiler holds forty litres.\n",
    "g.srt": "1\n00:00:01,000 --> 00:00:02,000\nThe boiler holds forty litres.\n",
    "h.log": "boiler holds forty litres\n", "i.doc": b"\xd0\xcf\x11\xe0",
}  # fmt: skip
UNREAD = (
    "Some of the named files were not read: 3 of kinds that are not read (1 .doc, 1 .log, 1 .srt), "
    "3 that cannot be converted."
)


async def quoted(folder: Path, question: str) -> str:
    answer = await answer_of(local(folder), question)
    return "\n".join(line[2:] for line in answer.content.splitlines() if line.startswith("> "))


async def test_what_is_not_there_is_said_of_what_was_read_only(tmp_path: Path) -> None:
    answer = await answer_of(local(written(tmp_path, KINDS)), "zeppelins")

    assert answer.content == (
        "No passage in those of the named documents that were read speaks of zeppelins; 6 files were not read."
    )
    assert answer.notices == (UNREAD,)


async def test_kinds_that_are_read_now_answer_and_the_others_are_still_counted(tmp_path: Path) -> None:
    answer = await answer_of(local(written(tmp_path, KINDS)), "How many litres does the boiler hold?")

    assert answer.sources
    assert {Path(source.path or "").suffix for source in answer.sources} <= {".rtf", ".eml"}
    assert answer.notices == (UNREAD,)


@pytest.mark.parametrize(
    ("name", "question", "text"),
    [
        ("lease.docx", "deposit of the flat", "Item | Deposit\n"),
        ("lease.docx", "deposit of the flat", "Flat | 2700 francs\n"),
        ("minutes.pdf", "northern bearing", "The council met in May and agreed\nthat the bridge shall be closed for\nlorries above twelve tonnes until the\nrepair of the northern bearing is done.\n"),
        ("minutes.pdf", "water is being cleaned", "nine in the evening except Mondays,\nwhen the water is being cleaned."),
        ("book.pdf", "understandable", "The argument is only under-\nstandable when one knows the con-\ntext of the experiment."),
    ],
)  # fmt: skip
async def test_a_file_that_was_found_in_use_is_quoted_as_it_reads(
    tmp_path: Path, name: str, question: str, text: str
) -> None:
    folder = written(tmp_path, {name: (CASES / name).read_bytes()})

    assert text.replace("\n", "") in (await quoted(folder, question)).replace("\n", "")
