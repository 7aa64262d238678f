"""From the bytes of a file to the text that is sent: encodings, line ends, lines, and documents."""

from pathlib import Path

import pytest
from tests.fixtures.attached_files import Desk, write
from tests.fixtures.office import pdf_of

from conversation_mcp.documents.formats import Formats
from conversation_mcp.errors import InvalidInputError

WORDS = "Grüße aus Köln: naïve Cafés, déjà vu\n"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        WORDS.encode(),
        WORDS.encode("utf-8-sig"),
        WORDS.encode("utf-16"),
        WORDS.encode("utf-16-le"),
        WORDS.encode("latin-1"),
        WORDS.replace("\n", "\r\n").encode(),
        WORDS.replace("\n", "\r").encode(),
    ],
)
async def test_text_is_read_in_its_encoding_and_its_bytes_are_kept_as_they_are(desk: Desk, data: bytes) -> None:
    write(desk.folder, {"a.txt": data})

    (file,) = (await desk.read(desk.folder / "a.txt")).files

    assert (file.text, file.data) == (WORDS, data)
    assert file.is_converted is (data != WORDS.encode())


@pytest.mark.parametrize("text", ["int x; // Größe\n", "# señor\n", "x = 'é'\n" + "y = 1\n" * 500])
async def test_a_single_letter_in_latin_1_is_not_lost(desk: Desk, text: str) -> None:
    write(desk.folder, {"a.py": text.encode("latin-1")})

    assert (await desk.read(desk.folder / "a.py")).files[0].text == text


@pytest.mark.parametrize("data", [b"\0", b"\x7fELF\x02\x01\x01\0\0", bytes(range(1, 32)), b"a\x01\x02\x03" * 9])
async def test_bytes_that_are_no_text_are_binary(desk: Desk, data: bytes) -> None:
    write(desk.folder, {"a.txt": data})

    with pytest.raises(InvalidInputError, match="binary"):
        await desk.read(desk.folder / "a.txt")


async def test_text_in_an_unknown_encoding_is_left_out_rather_than_garbled(desk: Desk) -> None:
    write(desk.folder, {"a.txt": "Привет, как дела".encode("koi8-r")})

    with pytest.raises(InvalidInputError, match="encoding"):
        await desk.read(desk.folder / "a.txt")


async def test_the_colours_of_a_terminal_are_text(desk: Desk) -> None:
    write(desk.folder, {"a.log": b"\x1b[31mfailed\x1b[0m\n"})

    assert (await desk.read(desk.folder / "a.log")).files[0].text == "\x1b[31mfailed\x1b[0m\n"


async def test_half_a_character_cannot_reach_a_model(desk: Desk) -> None:
    halves = "ab".encode("utf-16") + b"\x3d\xd8" + "cd".encode("utf-16-le")
    write(desk.folder, {"a.txt": halves, "b.txt": b"ab \xed\xa0\xbd cd"})

    for file in (await desk.read(desk.folder)).files:
        assert file.text.encode().startswith(b"ab")


@pytest.mark.parametrize(
    ("named", "text", "lines"),
    [
        ("2-3", "2\n3\n", "2-3"),
        ("2", "2\n", "2"),
        ("1-5", "1\n2\n3\n4\n5", "1-5"),
        ("4-80", "4\n5", "4-5"),
        ("5-80", "5", "5"),
    ],
)
async def test_lines_of_a_file_can_be_named(desk: Desk, named: str, text: str, lines: str) -> None:
    write(desk.folder, {"a.txt": "1\n2\n3\n4\n5"})

    (file,) = (await desk.read(f"{desk.folder}/a.txt:{named}")).files

    assert (file.text, file.data, file.lines) == (text, text.encode(), lines)


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("a.txt:6", "it has fewer lines than were named"),
        ("a.txt:0", "lines are counted from 1"),
        ("a.txt:3-2", "lines are counted from 1"),
        ("*.txt:1-2", "lines can only be named of one text file"),
        (".:1", "lines can only be named of one text file"),
        ("a.txt:x", "does not exist"),
    ],
)
async def test_lines_that_are_not_there_are_explained(desk: Desk, named: str, reason: str) -> None:
    write(desk.folder, {"a.txt": "1\n2\n3\n4\n5\n"})

    with pytest.raises(InvalidInputError, match=reason):
        await desk.read(f"{desk.folder}/{named}")


async def test_a_file_whose_name_ends_like_lines_wins(desk: Desk) -> None:
    write(desk.folder, {"a.txt:2": "whole\n", "a.txt": "1\n2\n"})

    (file,) = (await desk.read(f"{desk.folder}/a.txt:2")).files

    assert (file.text, file.lines) == ("whole\n", None)


async def test_a_document_is_sent_as_its_text_and_kept_as_its_bytes(desk: Desk) -> None:
    data = pdf_of("The quick brown fox", "jumps over the lazy dog")
    write(desk.folder, {"a.pdf": data})

    (file,) = (await desk.read(desk.folder / "a.pdf")).files

    assert file.text.split() == ["The", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog"]
    assert (file.data, file.is_converted) == (data, True)


async def test_a_document_that_is_none_is_left_out(desk: Desk) -> None:
    write(desk.folder, {"a.pdf": "no PDF", "b.docx": "no Word"})

    with pytest.raises(InvalidInputError, match="cannot be converted") as raised:
        await desk.read(desk.folder / "a.pdf", desk.folder / "b.docx")
    assert raised.value.message.count("cannot be converted") == 2


@pytest.fixture
def desk_without_extra(tmp_path: Path) -> Desk:
    return Desk(tmp_path, formats=Formats(frozenset({"pdf"})))


async def test_without_the_extra_a_document_is_left_out_with_what_to_install(desk_without_extra: Desk) -> None:
    desk = desk_without_extra
    write(desk.folder, {"a.pdf": pdf_of("x"), "a.txt": "x"})

    read = await desk.read(desk.folder / "a.pdf", desk.folder / "a.txt")

    assert "pip install 'conversation-mcp[documents]'" in desk.reasons(read)["a.pdf"]
    assert desk.names(read) == ["a.txt"]
