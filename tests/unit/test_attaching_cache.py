"""What was read lately is not read again while it is the same."""

import os
from datetime import datetime
from pathlib import Path

import pytest
from tests.fixtures.attached_files import Desk, long_after, write

from conversation_mcp.attaching.cache import ENTRY_BYTES, FileCache, SeenFile
from conversation_mcp.attaching.files import FileReader
from conversation_mcp.clock import utc_now
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.settings import Settings

STAMP = (1, 2, 3, 4, 5)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(write(tmp_path, {"a.txt": "one\ntwo\n"}))


async def test_an_unchanged_file_is_not_read_again(desk: Desk) -> None:
    (first,) = (await desk.read(desk.folder / "a.txt")).files
    (second,) = (await desk.read(desk.folder)).files

    assert second is first


@pytest.mark.parametrize("text", ["six\ntwo\n", "other"])
async def test_a_changed_file_is_read_again_even_if_its_size_is_the_same(desk: Desk, text: str) -> None:
    await desk.read(desk.folder / "a.txt")
    write(desk.folder, {"a.txt": text})

    assert (await desk.read(desk.folder / "a.txt")).files[0].text == text


async def test_a_file_in_the_place_of_another_with_the_same_times_is_read(desk: Desk) -> None:
    path = desk.folder / "a.txt"
    await desk.read(path)
    times = path.stat()
    write(desk.folder, {"b.txt": "six\ntwo\n"})
    os.utime(desk.folder / "b.txt", ns=(times.st_atime_ns, times.st_mtime_ns))
    (desk.folder / "b.txt").rename(path)

    assert (await desk.read(path)).files[0].text == "six\ntwo\n"


async def test_a_file_that_was_written_just_now_is_not_trusted_to_stay(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "x"})
    now: list[datetime] = [utc_now()]
    files = FileReader(Settings(), FileCache(), lambda: now[0])

    async def read() -> object:
        (file,) = (await files.read([str(tmp_path / "a.txt")], working_folder=tmp_path, home=None)).files
        return file

    first, second = await read(), await read()
    assert second is not first
    now[0] = long_after()
    assert await read() is await read()


async def test_lines_come_from_the_whole_file_that_was_read(desk: Desk) -> None:
    await desk.read(desk.folder / "a.txt")

    assert (await desk.read(f"{desk.folder}/a.txt:2")).files[0].text == "two\n"


async def test_a_path_in_the_cache_must_still_be_allowed(desk: Desk, tmp_path: Path) -> None:
    await desk.read(desk.folder / "a.txt")
    (tmp_path / "inner").mkdir()

    read = await desk.read(tmp_path / "a.txt", tmp_path / "inner", f"{tmp_path}/inner/none", roots=[tmp_path])
    assert len(read.files) == 1
    with pytest.raises(Exception, match="outside of the folders"):
        await desk.read(tmp_path / "a.txt", roots=[tmp_path / "inner"])


async def test_a_secret_that_was_read_by_permission_is_none_to_others(tmp_path: Path) -> None:
    write(tmp_path, {".env": "COLOUR=red\n"})
    allowed = Desk(tmp_path, Settings(allow_secrets=(tmp_path / ".env",)))
    assert (await allowed.read(tmp_path / ".env")).files

    with pytest.raises(InvalidInputError, match="a secret by its name"):
        await Desk(tmp_path, cache=allowed.cache).read(tmp_path / ".env")


def test_the_cache_drops_what_was_not_used_for_longest() -> None:
    cache = FileCache(3 * ENTRY_BYTES + 10)
    for name in "abc":
        cache.put(name, STAMP, SeenFile(name), is_image=False)
    assert cache.get("a", STAMP, is_image=False)
    cache.put("d", STAMP, SeenFile("d"), is_image=False)

    assert [name for name in "abcd" if cache.get(name, STAMP, is_image=False)] == ["a", "c", "d"]


def test_what_is_larger_than_the_cache_is_not_kept_and_drops_nothing() -> None:
    cache = FileCache(ENTRY_BYTES + 10)
    cache.put("a", STAMP, SeenFile("a"), is_image=False)
    cache.put("b", STAMP, SeenFile("b" * 100), is_image=False)

    assert cache.get("a", STAMP, is_image=False)
    assert not cache.get("b", STAMP, is_image=False)


def test_as_an_image_and_as_a_text_a_file_is_two_things() -> None:
    cache = FileCache()
    cache.put("a", STAMP, SeenFile("a"), is_image=True)

    assert not cache.get("a", STAMP, is_image=False)
